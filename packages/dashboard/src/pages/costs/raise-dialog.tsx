import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { answerOf, useTell } from "../../api/queries.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { TextInput } from "../../ui/field.tsx";
import { Labelled } from "../../ui/labelled.tsx";
import type { BudgetKind } from "./limits.ts";

interface RaiseDialogProps {
  /** The whole fleet where there is none. */
  agent: string | undefined;
  kind: BudgetKind;
  onClose(): void;
}

const units: Record<BudgetKind, { word: string; step: string }> = {
  usd: { word: "dollars", step: "any" },
  jobs: { word: "jobs", step: "1" },
  tokens: { word: "tokens", step: "1" },
};

export function RaiseDialog({ agent, kind, onClose }: RaiseDialogProps) {
  const [amount, setAmount] = useState("");
  const raise = useTell("raiseBudget");
  const client = useQueryClient();
  const { word, step } = units[kind];
  const send = (event: FormEvent) => {
    event.preventDefault();
    raise.mutate(
      { body: { agent, [kind]: Number(amount) } },
      {
        onSuccess: (view) => {
          // No event tells of it.
          client.setQueryData(answerOf("budget").queryKey, view);
          onClose();
        },
      },
    );
  };
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`Raise the budget of ${agent ?? "the whole fleet"}`}
      note="For today only. What was refused before is not started by it."
    >
      <form onSubmit={send} className="flex flex-col gap-3">
        <Labelled label={`By how many ${word}`}>
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
        </Labelled>
        {raise.error && <ErrorNote error={raise.error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button look="main" type="submit" disabled={raise.isPending || !(Number(amount) > 0)}>
            Raise
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
