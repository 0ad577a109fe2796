// The application: its providers, and the way in. Who is not signed in sees the sign-in page at every address; everything else is
// loaded after signing in.

import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { useEffect } from "react";
import { Router } from "wouter";
import { CallFailed } from "./api/failure.ts";
import { useSession } from "./api/session.ts";
import { withdrawAll } from "./api/undo.ts";
import { forgetWrites } from "./api/writes.ts";
import { loadLater } from "./components/load-later.tsx";
import { PageBoundary } from "./components/page-boundary.tsx";
import { useWords } from "./i18n/language.ts";
import { SHELL } from "./i18n/shell.ts";
import { styleNonce } from "./nonce.ts";
import { SignIn } from "./pages/sign-in.tsx";
import { COLORS, themeOf } from "./theme.ts";

/** Below which address the console lives. */
const BASE = "/console";

const SignedIn = loadLater(() => import("./frame/signed-in.tsx"));

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // A refusal is an answer; what could not be reached is asked once more, and then by the next poll.
      retry: (count, error) =>
        error instanceof CallFailed && error.failure.kind === "unreachable" && count < 1,
      staleTime: 1_000,
      // Without a network a question fails at once, and the page says so; it does not wait silently.
      networkMode: "always",
      refetchOnReconnect: true,
      refetchIntervalInBackground: false,
    },
    // A write is sent now, or not at all.
    mutations: { networkMode: "always" },
  },
});

/** The console. */
export function App() {
  return (
    <MantineProvider
      theme={themeOf(useWords(SHELL).close)}
      cssVariablesResolver={COLORS}
      defaultColorScheme="auto"
      getStyleNonce={styleNonce}
    >
      <QueryClientProvider client={queries}>
        <Router base={BASE}>
          <PageBoundary path="">
            <Entrance />
          </PageBoundary>
        </Router>
      </QueryClientProvider>
    </MantineProvider>
  );
}

function Entrance() {
  const session = useSession();
  // What one key asked, wrote and may undo is never the next one's.
  useEffect(() => {
    if (session.key !== null) return;
    queries.clear();
    forgetWrites();
    withdrawAll();
  }, [session.key]);
  if (session.key === null) return <SignIn reason={session.reason} />;
  return <SignedIn key={session.number} />;
}
