import { useState } from "react";
import { useReadOnly } from "../../api/access.ts";
import type { Answer } from "../../api/ask.ts";
import { useAnswer } from "../../api/queries.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Share } from "../../ui/share.tsx";
import { WithCode } from "../../ui/with-code.tsx";
import { type BudgetKind, limitsOf } from "./limits.ts";
import { RaiseDialog } from "./raise-dialog.tsx";

/** What may be spent today, and what has been. */
export function Budgets() {
  const budget = useAnswer("budget");
  return (
    <Panel title="Budgets of today" aside={budget.data?.day}>
      {budget.error && <ErrorNote error={budget.error} onRetry={budget.refetch} />}
      {budget.data ? <Lines view={budget.data} /> : !budget.error && <Loading lines={4} />}
    </Panel>
  );
}

function Lines({ view }: { view: Answer<"budget"> }) {
  const all = [{ agent: undefined, ...view.fleet }, ...view.agents];
  const limited = all.filter((line) => limitsOf(line).length > 0);
  if (limited.length === 0) {
    return (
      <p className="text-muted">
        <WithCode text="Nothing is limited. Write `budget: { daily_usd: 5 }` into an agent, or under `fleet` for all of them." />
      </p>
    );
  }
  return (
    <ul className="flex flex-col gap-3">
      {limited.map((line) => (
        <BudgetLine key={line.agent ?? ""} agent={line.agent} limits={limitsOf(line)} />
      ))}
    </ul>
  );
}

interface BudgetLineProps {
  agent: string | undefined;
  limits: ReturnType<typeof limitsOf>;
}

function BudgetLine({ agent, limits }: BudgetLineProps) {
  const readOnly = useReadOnly();
  const [raised, setRaised] = useState<BudgetKind | null>(null);
  const name = agent ?? "The whole fleet";
  return (
    <li>
      <p className="mb-1 font-medium">{name}</p>
      {limits.map(({ kind, label, isUsedUp, share, words }) => (
        <div key={kind} className="mb-1 grid grid-cols-[1fr_auto] items-center gap-x-3">
          <Share label={`${name}, ${label}`} value={share} isFull={isUsedUp} />
          <Button
            size="small"
            obstacle={readOnly}
            onClick={() => setRaised(kind)}
            aria-label={`Raise the ${label} of ${name} for today`}
          >
            Raise
          </Button>
          <p className="col-span-2 flex flex-wrap items-center gap-x-2 text-sm text-muted">
            <span className="whitespace-nowrap">{words}</span>
            {isUsedUp && (
              <Badge tone="bad" title="Nothing more starts today">
                used up
              </Badge>
            )}
          </p>
        </div>
      ))}
      {raised && <RaiseDialog agent={agent} kind={raised} onClose={() => setRaised(null)} />}
    </li>
  );
}
