// The look of all pages: dense, small radii, one accent colour, figures of equal width.

import {
  type CSSVariablesResolver,
  createTheme,
  type MantineColorsTuple,
  type MantineThemeOverride,
  mergeThemeOverrides,
} from "@mantine/core";

/** The accent: a green that reads on light and on dark (contrast at least 4.5 with white in shade 8). */
const ARBOR: MantineColorsTuple = [
  "#e9f7f1",
  "#d5ece2",
  "#aad9c4",
  "#7cc5a4",
  "#56b489",
  "#3da978",
  "#2f9c6c",
  "#20805a",
  "#146c4a",
  "#04573a",
];

const THEME = createTheme({
  primaryColor: "arbor",
  primaryShade: { light: 8, dark: 7 },
  colors: { arbor: ARBOR },
  defaultRadius: "sm",
  radius: { xs: "2px", sm: "3px", md: "4px", lg: "6px", xl: "8px" },
  fontFamily: "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Noto Sans CJK SC', sans-serif",
  fontFamilyMonospace: "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace",
  fontSizes: { xs: "0.75rem", sm: "0.8125rem", md: "0.875rem", lg: "1rem", xl: "1.25rem" },
  headings: {
    fontWeight: "600",
    sizes: {
      h1: { fontSize: "1.25rem", lineHeight: "1.3" },
      h2: { fontSize: "1rem", lineHeight: "1.4" },
      h3: { fontSize: "0.875rem", lineHeight: "1.4" },
    },
  },
  autoContrast: true,
  respectReducedMotion: true,
  components: {
    Button: { defaultProps: { size: "xs" } },
    TextInput: { defaultProps: { size: "xs" } },
    PasswordInput: { defaultProps: { size: "xs" } },
    Textarea: { defaultProps: { size: "xs" } },
    Select: { defaultProps: { size: "xs" } },
    NumberInput: { defaultProps: { size: "xs" } },
    TagsInput: { defaultProps: { size: "xs" } },
    MultiSelect: { defaultProps: { size: "xs" } },
    Checkbox: { defaultProps: { size: "xs" } },
    Switch: { defaultProps: { size: "xs" } },
    SegmentedControl: { defaultProps: { size: "xs" } },
    ActionIcon: { defaultProps: { size: "sm", variant: "subtle", color: "gray" } },
    Tooltip: { defaultProps: { openDelay: 300, withinPortal: true, multiline: true, maw: 360 } },
    Alert: { defaultProps: { p: "xs" } },
    Badge: { defaultProps: { size: "sm", radius: "xs", variant: "light", tt: "none" } },
    Paper: { defaultProps: { radius: "sm", p: "sm" } },
  },
});

/** Returns the theme of the console. `close`: what the button that closes a dialog is called. */
export function themeOf(close: string): MantineThemeOverride {
  const closeButtonProps = { "aria-label": close };
  return mergeThemeOverrides(THEME, {
    components: {
      Modal: { defaultProps: { centered: true, size: "md", closeButtonProps } },
      Drawer: { defaultProps: { position: "right", size: "lg", closeButtonProps } },
    },
  });
}

/** Colours of the kit that would be too pale for small text (WCAG AA asks for a contrast of 4.5). */
export const COLORS: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    "--mantine-color-dimmed": "#59616a",
    "--mantine-color-placeholder": "#6b737b",
    "--mantine-color-disabled-color": "#6b737b",
    "--mantine-color-yellow-light-color": "#7a4100",
    "--mantine-color-orange-light-color": "#8c2f00",
    "--mantine-color-error": "var(--console-negative)",
    "--console-sidebar": "#f6f8f7",
  },
  dark: {
    "--mantine-color-dimmed": "#a3abb3",
    "--mantine-color-placeholder": "#8f979f",
    "--mantine-color-disabled-color": "#8f979f",
    "--mantine-color-error": "var(--console-negative)",
    "--console-sidebar": "#1f2322",
    // White text on the kit's red of this scheme has a contrast of 3.8.
    "--mantine-color-red-filled": "#c92a2a",
    "--mantine-color-red-filled-hover": "#b02525",
  },
});
