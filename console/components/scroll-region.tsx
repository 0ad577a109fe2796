// A table that is wider than the screen scrolls by itself, and the keyboard reaches it.

import { Box } from "@mantine/core";
import type { ReactNode } from "react";

/** A region that scrolls sideways. */
export function ScrollRegion({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <Box className="table-scroll" tabIndex={0} role="region" aria-label={label}>
      {children}
    </Box>
  );
}
