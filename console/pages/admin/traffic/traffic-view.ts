// What the address of the page Traffic holds: the account whose refusals are shown, the periods of the charts, the page of events.

/** The defaults. */
export const TRAFFIC_VIEW = { user: "", hours: "24", days: "7", page: "1" };

/** What the address holds. */
export type TrafficView = typeof TRAFFIC_VIEW;

/** What a section is given: the view, and how some of it is changed. */
export interface TrafficProps {
  readonly view: TrafficView;
  readonly change: (changes: Partial<TrafficView>) => void;
}
