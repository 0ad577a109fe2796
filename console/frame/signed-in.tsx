// What is shown to who is signed in: the frame, and the page of the address among those that the key may open.

import { Redirect, Route, Switch, useLocation } from "wouter";
import { isServedHere } from "../api/administration.ts";
import { useGet } from "../api/queries.ts";
import { isAllowed, type Status } from "../api/role.ts";
import { AskedState } from "../components/asked-state.tsx";
import { PageBoundary } from "../components/page-boundary.tsx";
import { NotFound } from "../pages/not-found.tsx";
import { PAGES } from "../pages/page-table.tsx";
import { PageFrame } from "./page-frame.tsx";
import { SignOut } from "./sign-out.tsx";
import { StatusContext } from "./status.ts";
import { UndoLauncher } from "./undo-launcher.tsx";

/** The pages of the account that is signed in. */
export default function SignedIn() {
  const status = useGet("/dashboard/status");
  // Without this answer there is no menu to sign out in, and a disabled account would be held here.
  const hasFailed = status.data === undefined && status.error !== null;
  return (
    <>
      <AskedState asked={status}>{(known) => <Pages status={known} />}</AskedState>
      {hasFailed && <SignOut />}
    </>
  );
}

function Pages({ status }: { readonly status: Status }) {
  const [path] = useLocation();
  const pages = PAGES.filter((page) => isAllowed(status, page.need) && isServedHere(page.path));
  // A key without "read" has no Home: its first page is the first of its menu.
  const start = pages.find(({ menu }) => menu !== null);
  return (
    <StatusContext.Provider value={status}>
      <PageFrame pages={pages}>
        <PageBoundary path={path}>
          <Switch>
            {pages.map(({ path, component }) => (
              <Route key={path} path={path} component={component} />
            ))}
            {start !== undefined && start.path !== "/" && (
              <Route path="/">
                <Redirect to={start.path} replace />
              </Route>
            )}
            <Route component={NotFound} />
          </Switch>
        </PageBoundary>
        <UndoLauncher />
      </PageFrame>
    </StatusContext.Provider>
  );
}
