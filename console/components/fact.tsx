// A fact with its name above it, in the sheets of requests, ledger lines and operations.

import { Text } from "@mantine/core";
import type { ReactNode } from "react";

/** A fact with its name; one that is not known is left out. */
export function Fact({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  if (children === undefined || children === null || children === false) return null;
  return (
    <div>
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <Text size="sm" component="div" className="fact">
        {children}
      </Text>
    </div>
  );
}
