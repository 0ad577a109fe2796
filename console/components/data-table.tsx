// Tables of pages: dense, figures right-aligned, headings that sort where the server can, and a pager. Sorting, filtering and
// paging are the server's; nothing here reads more rows than the page has.

import { Box, Table, UnstyledButton } from "@mantine/core";
import type { ReactNode } from "react";
import { useWords } from "../i18n/language.ts";
import { SHELL } from "../i18n/shell.ts";

/** A column: how its heading and its cells read. */
export interface Column<Row> {
  readonly key: string;
  readonly title: string;
  readonly cell: (row: Row) => ReactNode;
  /** Figures are right-aligned. */
  readonly isFigure?: boolean;
  /** The server's name of this order, where it has one. */
  readonly sort?: string;
  /** Left out on narrow screens. */
  readonly isMinor?: boolean;
  /** Long texts go on in further lines, instead of widening the table. */
  readonly isWrapping?: boolean;
}

/** The order of a list, and how it is changed. */
export interface Sorting {
  readonly by: string;
  readonly order: "asc" | "desc";
  readonly change: (by: string, order: "asc" | "desc") => void;
}

/** A table with a caption for screen readers. `footer`: a row of totals, cell by cell. `onOpen`: a click on a row. */
export function DataTable<Row>(props: {
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string | number;
  readonly sorting?: Sorting;
  readonly footer?: readonly ReactNode[];
  readonly onOpen?: (row: Row) => void;
}) {
  const { caption, columns, rows, keyOf, sorting, footer, onOpen } = props;
  return (
    // A region that scrolls is reached by the keyboard.
    <Box className="table-scroll" tabIndex={0} role="region" aria-label={caption}>
      <Table verticalSpacing={3} horizontalSpacing="xs" fz="sm" highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            {columns.map((column) => (
              <Heading key={column.key} column={column} sorting={sorting} />
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr key={keyOf(row)} {...opening(row, onOpen)}>
              {columns.map((column) => (
                <Table.Td key={column.key} className={classOf(column)}>
                  {column.cell(row)}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
        {footer !== undefined && (
          <Table.Tfoot>
            <Table.Tr>
              {columns.map((column, at) => (
                <Table.Td key={column.key} className={classOf(column)} fw={600}>
                  {footer[at]}
                </Table.Td>
              ))}
            </Table.Tr>
          </Table.Tfoot>
        )}
      </Table>
    </Box>
  );
}

const classOf = <Row,>({ isFigure, isMinor, isWrapping }: Column<Row>): string =>
  [isFigure && "figure-cell", isMinor && "minor", isWrapping && "wraps"].filter(Boolean).join(" ");

/** A row that opens something is reached and opened by the keyboard too. */
function opening<Row>(row: Row, onOpen: ((row: Row) => void) | undefined) {
  if (onOpen === undefined) return {};
  return {
    tabIndex: 0,
    className: "opens",
    onClick: (event: React.MouseEvent) => {
      if ((event.target as Element).closest("a, button, input") === null) onOpen(row);
    },
    onKeyDown: (event: React.KeyboardEvent) => {
      if (event.key === "Enter" && event.target === event.currentTarget) onOpen(row);
    },
  };
}

function Heading<Row>(props: { readonly column: Column<Row>; readonly sorting: Sorting | undefined }) {
  const { column, sorting } = props;
  const words = useWords(SHELL);
  const { sort } = column;
  if (sort === undefined || sorting === undefined) {
    return <Table.Th className={classOf(column)}>{column.title}</Table.Th>;
  }
  const isCurrent = sorting.by === sort;
  const next = isCurrent && sorting.order === "asc" ? "desc" : "asc";
  const arrow = isCurrent ? (sorting.order === "asc" ? " ↑" : " ↓") : "";
  const direction = isCurrent ? (sorting.order === "asc" ? "ascending" : "descending") : "none";
  return (
    <Table.Th className={classOf(column)} aria-sort={direction}>
      <UnstyledButton
        fz="sm"
        fw={700}
        onClick={() => sorting.change(sort, next)}
        aria-label={words.sortBy(column.title)}
      >
        {column.title}
        {arrow}
      </UnstyledButton>
    </Table.Th>
  );
}
