// The steps of a route in their order: which map or list spoke, what it made of the request, and by which rule.

import { Badge, Code, Text } from "@mantine/core";
import { countText } from "../../../api/amount.ts";
import type { ExplainedRoute } from "../../../components/explained-route.tsx";
import { useWords } from "../../../i18n/language.ts";
import { ROUTING } from "../../../i18n/routing.ts";

type Step = ExplainedRoute["steps"][number];

/** Steps that only say yes or no. */
const JUDGING: ReadonlySet<string> = new Set(["allow_models", "allow_levels"]);

/** The list of steps. */
export function XraySteps({ steps }: { readonly steps: readonly Step[] }) {
  return (
    <ol className="xray-steps">
      {steps.map((step, nth) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: steps are numbered
        <OneStep key={nth} step={step} />
      ))}
    </ol>
  );
}

/** Limits are stated as JSON, in which 0 is no limit. */
function limitsText(json: string): string {
  const limits: Readonly<Record<string, number>> = JSON.parse(json);
  const given = Object.entries(limits).filter(([, limit]) => limit > 0);
  return given.map(([name, limit]) => `${name} ${countText(limit)}`).join(", ");
}

function OneStep({ step }: { readonly step: Step }) {
  const words = useWords(ROUTING);
  const isChange = step.in !== step.out && !JUDGING.has(step.step);
  const isRefused = step.out === "refused" || step.out === "none";
  return (
    <li data-step={step.step} data-change={isChange || undefined}>
      <Text size="xs" c="dimmed" component="div">
        {words.steps[step.step] ?? step.step}
      </Text>
      <Text size="sm" component="div" className="break">
        {JUDGING.has(step.step) ? (
          <>
            {step.in}{" "}
            <Badge tt="none" color={isRefused ? "red" : "arbor"}>
              {isRefused ? words.notAllowed : words.allowed}
            </Badge>
          </>
        ) : isChange ? (
          <>
            {step.in} → <b>{step.step === "limits" ? limitsText(step.out) : step.out}</b>
          </>
        ) : (
          <>
            {step.in} <span className="unchanged">{words.unchanged}</span>
          </>
        )}
        {step.rule !== undefined && (
          <>
            {" "}
            <Code title={words.byRule}>{step.rule}</Code>
          </>
        )}
      </Text>
      {step.note !== undefined && (
        <Text size="xs" c="dimmed" className="break">
          {step.note}
        </Text>
      )}
    </li>
  );
}
