// The entry of the console: the nonce for style elements that components make, and the application. The build joins the styles of
// all components that are used, so that modules import none.

import { setNonce } from "get-nonce";
import { createRoot } from "react-dom/client";
import { watchSession } from "./api/session.ts";
import { App } from "./app.tsx";
import { styleNonce } from "./nonce.ts";
import { returnFocusOfDialogs } from "./return-focus.ts";

// Dialogs lock the scrolling behind them by a style element of a library that knows the nonce only from here.
setNonce(styleNonce());

watchSession();
returnFocusOfDialogs();
createRoot(document.getElementById("root")!).render(<App />);
