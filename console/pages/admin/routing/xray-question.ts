// What the X-ray of a route is asked, as the address of the page has it.

/** The defaults: nothing is asked without a model. */
export const XRAY_QUESTION = { user: "", model: "", path: "", ip: "", api_key: "" };

/** What is asked. */
export type XrayQuestion = typeof XRAY_QUESTION;

/** What the X-ray is given: its question, and how some of it is changed. */
export interface XrayProps {
  readonly question: XrayQuestion;
  readonly change: (changes: Partial<XrayQuestion>) => void;
}
