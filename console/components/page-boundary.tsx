// Catches what a page could not show, so that menu and header stay. It is a bug of the console, or a file that cannot be loaded.

import { Alert, Button } from "@mantine/core";
import { Component, type ReactNode } from "react";
import { CallFailed } from "../api/failure.ts";
import { useWords } from "../i18n/language.ts";
import { SHELL } from "../i18n/shell.ts";
import { FailureNotice } from "./failure-notice.tsx";

interface Props {
  /** The address of the page. Another page is shown whatever became of the one before. */
  readonly path: string;
  readonly children: ReactNode;
}

interface State {
  readonly path: string;
  readonly broken: Error | null;
}

/** Shows a notice in the place of a page that failed. */
export class PageBoundary extends Component<Props, State> {
  override state: State = { path: this.props.path, broken: null };

  static getDerivedStateFromError(broken: Error): Partial<State> {
    return { broken };
  }

  static getDerivedStateFromProps({ path }: Props, state: State): Partial<State> | null {
    return path === state.path ? null : { path, broken: null };
  }

  override render(): ReactNode {
    const { broken } = this.state;
    if (broken === null) return this.props.children;
    return broken instanceof CallFailed ? (
      <FailureNotice failure={broken.failure} onRetry={() => this.setState({ broken: null })} />
    ) : (
      <BrokenPage error={broken} />
    );
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
