import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useFleetQuery } from "../../api/queries.ts";
import { TextInput } from "../../ui/form-controls.tsx";
import { LabelledField } from "../../ui/labelled-field.tsx";
import { Loading } from "../../ui/loading.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { Panel } from "../../ui/panel.tsx";
import { AdminOnly } from "../admin-only.tsx";
import { AgentForm } from "./agent-form.tsx";

export function NewAgentPage() {
  const scope = useFleetQuery("access").data?.scope;
  const navigate = useNavigate();
  const [name, setName] = useState("");
  const agent = name.trim();
  return (
    <>
      <PageHeader title="Add an agent" note="It is added to the fleet file" />
      {scope === undefined ? (
        <Loading />
      ) : scope === "admin" ? (
        <AgentForm
          agent={agent}
          isNew
          values={[]}
          onSaved={() => void navigate({ to: "/agents/$agent", params: { agent } })}
        >
          <Panel title="Name">
            <LabelledField label="Agent name">
              {(id) => (
                <TextInput
                  id={id}
                  autoFocus
                  required
                  value={name}
                  placeholder="reviewer"
                  onChange={({ target }) => setName(target.value)}
                />
              )}
            </LabelledField>
          </Panel>
        </AgentForm>
      ) : (
        <AdminOnly />
      )}
    </>
  );
}
