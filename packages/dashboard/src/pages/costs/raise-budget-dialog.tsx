import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { routeQuery, useFleetMutation } from "../../api/queries.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { TextInput } from "../../ui/form-controls.tsx";
import { LabelledField } from "../../ui/labelled-field.tsx";
import type { BudgetKind } from "./budget-limits.ts";

interface RaiseBudgetDialogProps {
  /** Undefined for the budget of the entire fleet. */
  agent: string | undefined;
  kind: BudgetKind;
  onClose(): void;
}

const units: Record<BudgetKind, { unitName: string; step: string }> = {
  usd: { unitName: "dollars", step: "any" },
  jobs: { unitName: "jobs", step: "1" },
  tokens: { unitName: "tokens", step: "1" },
};

export function RaiseBudgetDialog({ agent, kind, onClose }: RaiseBudgetDialogProps) {
  const [amount, setAmount] = useState("");
  const raise = useFleetMutation("raiseBudget");
  const client = useQueryClient();
  const { unitName, step } = units[kind];
  const send = (event: FormEvent) => {
    event.preventDefault();
    raise.mutate(
      { body: { agent, [kind]: Number(amount) } },
      {
        onSuccess: (view) => {
          // Budget changes emit no event, so update the cache here.
          client.setQueryData(routeQuery("budget").queryKey, view);
          onClose();
        },
      },
    );
  };
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`Raise today's budget for ${agent ?? "the entire fleet"}`}
      note="Applies to today only. Jobs that were already skipped do not start."
    >
      <form onSubmit={send} className="flex flex-col gap-3">
        <LabelledField label={`Additional ${unitName}`}>
          {(id) => (
            <TextInput
              id={id}
              type="number"
              min="0"
              step={step}
              required
              value={amount}
              onChange={({ target }) => setAmount(target.value)}
              className="w-40"
            />
          )}
        </LabelledField>
        {raise.error && <ErrorNote error={raise.error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="main" type="submit" disabled={raise.isPending || !(Number(amount) > 0)}>
            Raise
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
