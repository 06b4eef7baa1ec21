import { useState } from "react";
import { useFleetMutation, useFleetQuery } from "../../api/queries.ts";
import { Button } from "../../ui/button.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Select, TextInput } from "../../ui/form-controls.tsx";
import { LabelledField } from "../../ui/labelled-field.tsx";

const scopes = [
  { value: "read", title: "Read: see everything, change nothing" },
  { value: "trigger", title: "Trigger: also start jobs" },
  { value: "answer", title: "Answer: also answer requests" },
  { value: "admin", title: "Admin: everything" },
] as const;

const dayMs = 24 * 3_600_000;
const lifetimes = [
  { days: 30, title: "30 days" },
  { days: 365, title: "1 year" },
  { days: 0, title: "Until revoked" },
];

export function CreateTokenDialog({ onClose }: { onClose(): void }) {
  const agents = useFleetQuery("status").data?.agents ?? [];
  const [name, setName] = useState("");
  const [scope, setScope] = useState<(typeof scopes)[number]["value"]>("read");
  const [agent, setAgent] = useState("");
  const [days, setDays] = useState(30);
  const create = useFleetMutation("createToken");
  const submit = () =>
    create.mutate({
      body: {
        name: name.trim(),
        scope,
        agents: agent === "" ? undefined : [agent],
        expires_at: days === 0 ? undefined : new Date(Date.now() + days * dayMs).toISOString(),
      },
    });
  return (
    <Dialog
      open
      onOpenChange={(isOpen) => !isOpen && onClose()}
      title={create.data ? "Token created" : "Create a token"}
      note={create.data ? "Copy it now. It is not shown again." : undefined}
    >
      {create.data ? (
        <div className="flex flex-col gap-3">
          <CodeBlock label="Token" text={create.data.secret} />
          <div className="flex justify-end">
            <Button variant="main" onClick={onClose}>
              Done
            </Button>
          </div>
        </div>
      ) : (
        <form
          className="flex flex-col gap-3"
          onSubmit={(event) => {
            event.preventDefault();
            submit();
          }}
        >
          <LabelledField label="Name">
            {(id) => (
              <TextInput
                id={id}
                required
                autoFocus
                value={name}
                placeholder="ci"
                onChange={({ target }) => setName(target.value)}
              />
            )}
          </LabelledField>
          <LabelledField label="Scope">
            {(id) => (
              <Select
                id={id}
                value={scope}
                onChange={({ target }) =>
                  setScope(scopes.find(({ value }) => value === target.value)?.value ?? "read")
                }
              >
                {scopes.map(({ value, title }) => (
                  <option key={value} value={value}>
                    {title}
                  </option>
                ))}
              </Select>
            )}
          </LabelledField>
          <LabelledField label="Agents">
            {(id) => (
              <Select id={id} value={agent} onChange={({ target }) => setAgent(target.value)}>
                <option value="">All agents</option>
                {agents.map((one) => (
                  <option key={one.name}>{one.name}</option>
                ))}
              </Select>
            )}
          </LabelledField>
          <LabelledField label="Valid for">
            {(id) => (
              <Select
                id={id}
                value={String(days)}
                onChange={({ target }) => setDays(Number(target.value))}
              >
                {lifetimes.map((lifetime) => (
                  <option key={lifetime.days} value={lifetime.days}>
                    {lifetime.title}
                  </option>
                ))}
              </Select>
            )}
          </LabelledField>
          {create.error && <ErrorNote error={create.error} />}
          <div className="flex justify-end gap-2">
            <Button variant="quiet" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" variant="main" disabled={create.isPending || name.trim() === ""}>
              Create
            </Button>
          </div>
        </form>
      )}
    </Dialog>
  );
}
