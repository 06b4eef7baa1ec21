import { Link } from "@tanstack/react-router";
import { useFleetQuery } from "../../api/queries.ts";
import { Badge } from "../../ui/badge.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Table, Td, Th } from "../../ui/table.tsx";
import { Money, RelativeTime } from "../../ui/time.tsx";
import { formatResumeCommand } from "../job/resume-command.ts";

export function Sessions({ agent }: { agent: string }) {
  const { data, error } = useFleetQuery("sessions", { query: { agent } });
  const file = useFleetQuery("status").data?.fleet.file ?? "herdctl.yaml";
  if (error && !data) return <ErrorNote error={error} />;
  if (!data) return <Loading />;
  if (data.sessions.length === 0)
    return <EmptyState title="No sessions yet">The agent's first run creates one.</EmptyState>;
  return (
    <div className="rounded-lg border border-line bg-surface">
      <Table label="Sessions">
        <thead>
          <tr>
            <Th>Session</Th>
            <Th>Runtime</Th>
            <Th>Last used</Th>
            <Th className="text-right">Turns</Th>
            <Th className="text-right">Cost</Th>
            <Th>Resume in a terminal</Th>
          </tr>
        </thead>
        <tbody>
          {data.sessions.map((session) => (
            <tr key={session.session_id} className="hover:bg-hover">
              <Td className="font-mono text-sm whitespace-nowrap">
                {session.job_id === null ? (
                  session.session_id
                ) : (
                  <Link
                    to="/jobs/$jobId"
                    params={{ jobId: session.job_id }}
                    data-row
                    className="hover:underline"
                  >
                    {session.session_id}
                  </Link>
                )}
              </Td>
              <Td className="whitespace-nowrap">
                {session.session_home} {session.in_chat && <Badge>Chat</Badge>}
                {session.schedule && <Badge>{session.schedule}</Badge>}
                {session.expired && <Badge tone="warn">Expired</Badge>}
              </Td>
              <Td>
                <RelativeTime at={session.last_used_at} />
              </Td>
              <Td className="text-right">{session.turns}</Td>
              <Td className="text-right">
                <Money usd={session.cost_total_usd} />
              </Td>
              <Td className="whitespace-nowrap">
                {session.obstacle ? (
                  <span className="text-sm text-muted" title={session.obstacle.hint}>
                    {session.obstacle.short}
                  </span>
                ) : (
                  <CopyButton
                    text={formatResumeCommand(session.session_id, file)}
                    label="Copy command"
                  />
                )}
              </Td>
            </tr>
          ))}
        </tbody>
      </Table>
    </div>
  );
}
