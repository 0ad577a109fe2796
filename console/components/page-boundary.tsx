// Catches what a page could not show, so that menu and header stay. It is a bug of the console, or a file that is gone.

import { Alert, Button } from "@mantine/core";
import { Component, type ReactNode } from "react";
import { useWords } from "../i18n/language.ts";
import { SHELL } from "../i18n/shell.ts";

/** Shows a notice in the place of a page that failed. */
export class PageBoundary extends Component<
  { readonly children: ReactNode },
  { readonly broken: Error | null }
> {
  override state: { readonly broken: Error | null } = { broken: null };

  static getDerivedStateFromError(broken: Error): { readonly broken: Error } {
    return { broken };
  }

  override render(): ReactNode {
    const { broken } = this.state;
    return broken === null ? this.props.children : <BrokenPage error={broken} />;
  }
}

function BrokenPage({ error }: { readonly error: Error }) {
  const words = useWords(SHELL);
  return (
    <Alert color="red" title={words.failure.broken} role="alert">
      {error.message}
      <Button mt="xs" variant="default" onClick={() => location.reload()}>
        {words.retry}
      </Button>
    </Alert>
  );
}
