import {
  escapeInvisibleInline,
  formatPermissionRule,
  type PermissionRule,
} from "@herdctl/server/contract";
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useFleetMutation, useFleetQuery } from "../../api/queries.ts";
import { useReadOnlyReason } from "../../api/use-read-only-reason.ts";
import { Button } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Table, Td, Th } from "../../ui/table.tsx";
import { RelativeTime } from "../../ui/time.tsx";

/** The permissions that people gave for more than one call. */
export function PermissionRules() {
  const { data, error } = useFleetQuery("rules");
  const readOnlyReason = useReadOnlyReason();
  const client = useQueryClient();
  const { mutate, isPending, error: removeError } = useFleetMutation("removeRule");
  const remove = (id: string) =>
    mutate(
      { params: { id } },
      { onSuccess: () => client.invalidateQueries({ queryKey: ["rules"] }) },
    );
  if (error && !data) return <ErrorNote error={error} />;
  if (!data) return <Loading />;
  return (
    <Panel title="Permission rules" aside="From answers in the inbox, chat and terminal" flush>
      {removeError && <ErrorNote error={removeError} />}
      {data.rules.length === 0 ? (
        <EmptyState title="No rules">
          “For this job” and “Always” on a permission request write a rule here.
        </EmptyState>
      ) : (
        <Table label="Permission rules">
          <thead>
            <tr>
              <Th>Agent</Th>
              <Th>Allowed</Th>
              <Th>For</Th>
              <Th>By</Th>
              <Th>Since</Th>
              <Th>
                <span className="sr-only">Actions</span>
              </Th>
            </tr>
          </thead>
          <tbody>
            {data.rules.map((rule) => (
              <tr key={rule.id} className="hover:bg-hover">
                <Td className="whitespace-nowrap">{rule.agent}</Td>
                <Td className="w-full min-w-48 font-mono text-sm wrap-anywhere">
                  {allowedText(rule)}
                </Td>
                <Td className="text-sm whitespace-nowrap">
                  {rule.job_id === null ? (
                    "All runs"
                  ) : (
                    <Link
                      to="/jobs/$jobId"
                      params={{ jobId: rule.job_id }}
                      className="text-accent hover:underline"
                    >
                      One job
                    </Link>
                  )}
                </Td>
                <Td className="text-sm">{rule.created_by}</Td>
                <Td className="text-sm whitespace-nowrap text-muted">
                  <RelativeTime at={rule.created_at} />
                </Td>
                <Td className="text-right">
                  <Button
                    size="small"
                    disabledReason={readOnlyReason}
                    disabled={isPending}
                    aria-label={`Revoke ${formatPermissionRule(rule)} of ${rule.agent}`}
                    onClick={() => remove(rule.id)}
                  >
                    Revoke
                  </Button>
                </Td>
              </tr>
            ))}
          </tbody>
        </Table>
      )}
    </Panel>
  );
}

/** An exact request shows its input. */
function allowedText(rule: PermissionRule): string {
  const input = rule.rules.length === 0 ? `: ${JSON.stringify(rule.input)}` : "";
  return escapeInvisibleInline(`${formatPermissionRule(rule)}${input}`);
}
