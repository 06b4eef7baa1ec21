import { Link } from "@tanstack/react-router";
import { useAnswer } from "../../api/queries.ts";
import { Badge } from "../../ui/badge.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Table, Td, Th } from "../../ui/table.tsx";
import { Ago, Money } from "../../ui/time.tsx";
import { resumeCommand } from "../job/resume-command.ts";

export function Sessions({ agent }: { agent: string }) {
  const { data, error } = useAnswer("sessions", { query: { agent } });
  if (error && !data) return <ErrorNote error={error} />;
  if (!data) return <Loading />;
  if (data.sessions.length === 0)
    return <Empty title="No session yet">Its first run makes one.</Empty>;
  return (
    <div className="rounded-lg border border-line bg-surface">
      <Table label="Sessions">
        <thead>
          <tr>
            <Th>Session</Th>
            <Th>Place</Th>
            <Th>Last used</Th>
            <Th className="text-right">Turns</Th>
            <Th className="text-right">Cost</Th>
            <Th>To go on by hand</Th>
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
                {session.place} {session.in_chat && <Badge>chat</Badge>}
                {session.schedule && <Badge>{session.schedule}</Badge>}
                {session.expired && <Badge tone="warn">expired</Badge>}
              </Td>
              <Td>
                <Ago at={session.last_used_at} />
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
                  <CopyButton text={resumeCommand(session)} label="Copy command" />
                )}
              </Td>
            </tr>
          ))}
        </tbody>
      </Table>
    </div>
  );
}
