import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useFleetMutation, useFleetQuery } from "../../api/queries.ts";
import { Button } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Panel } from "../../ui/panel.tsx";
import { sentenceCase } from "../../ui/sentence-case.ts";
import { Table, Td, Th } from "../../ui/table.tsx";
import { RelativeTime } from "../../ui/time.tsx";
import { CreateTokenDialog } from "./create-token-dialog.tsx";

export function Tokens() {
  const { data, error } = useFleetQuery("tokens");
  const [isCreating, setCreating] = useState(false);
  const client = useQueryClient();
  const refresh = () => client.invalidateQueries({ queryKey: ["tokens"] });
  const revoke = useFleetMutation("revokeToken");
  if (error && !data) return <ErrorNote error={error} />;
  if (!data) return <Loading />;
  return (
    <Panel
      title="Tokens"
      aside={
        <Button size="small" onClick={() => setCreating(true)}>
          Create token…
        </Button>
      }
      flush
    >
      {revoke.error && <ErrorNote error={revoke.error} />}
      {data.tokens.length === 0 ? (
        <div className="p-3">
          <EmptyState title="No tokens">
            A token lets a program use the control API, with only the scope and agents it needs.
          </EmptyState>
        </div>
      ) : (
        <Table label="Tokens">
          <thead>
            <tr>
              <Th>Token</Th>
              <Th>Scope</Th>
              <Th>Agents</Th>
              <Th>Created</Th>
              <Th>Last used</Th>
              <Th>Expires</Th>
              <Th>
                <span className="sr-only">Actions</span>
              </Th>
            </tr>
          </thead>
          <tbody>
            {data.tokens.map((token) => (
              <tr key={token.name} className="hover:bg-hover">
                <Td className="font-mono text-sm">{token.name}</Td>
                <Td>{sentenceCase(token.scope)}</Td>
                <Td>{token.agents?.join(", ") ?? "All"}</Td>
                <Td className="text-sm text-muted" title={`By ${token.created_by}`}>
                  <RelativeTime at={token.created_at} />
                </Td>
                <Td className="text-sm text-muted">
                  {token.last_used_at === null ? "Never" : <RelativeTime at={token.last_used_at} />}
                </Td>
                <Td className="text-sm text-muted">
                  {token.expires_at === null ? "Never" : <RelativeTime at={token.expires_at} />}
                </Td>
                <Td className="text-right">
                  <Button
                    size="small"
                    variant="bad"
                    disabled={revoke.isPending}
                    onClick={() =>
                      revoke.mutate({ params: { name: token.name } }, { onSuccess: refresh })
                    }
                  >
                    Revoke
                  </Button>
                </Td>
              </tr>
            ))}
          </tbody>
        </Table>
      )}
      {isCreating && (
        <CreateTokenDialog
          onClose={() => {
            setCreating(false);
            void refresh();
          }}
        />
      )}
    </Panel>
  );
}
