// What the target of news is called: everybody, an account, or the accounts below one.

import type { Status } from "../../api/role.ts";
import { useAccountName } from "../../components/account-name.tsx";
import { useWords } from "../../i18n/language.ts";
import { NEWS } from "../../i18n/news.ts";

/** The account above a place in the tree: of `.1.2.7.` that is 7. null where the text is no place. */
function accountOfPlace(place: string): number | null {
  const id = Number(place.split(".").at(-2));
  return place.startsWith(".") && Number.isSafeInteger(id) && id > 0 ? id : null;
}

/** Returns the name of a target as the operation log has it: `everybody`, the id of an account, or a DNA. */
export function useTargetName(me: Status, to: string): string {
  const words = useWords(NEWS);
  const { name } = useAccountName(me, to === "everybody" ? null : (accountOfPlace(to) ?? Number(to)));
  if (to === "everybody") return words.everybody;
  return to.startsWith(".") ? words.toGroup(name) : name;
}
