import { useQueryClient } from "@tanstack/react-query";
import { useFleetMutation, useFleetQuery } from "../../api/queries.ts";
import { signOut } from "../../app/sign-out.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Panel } from "../../ui/panel.tsx";
import { sentenceCase } from "../../ui/sentence-case.ts";
import { Table, Td, Th } from "../../ui/table.tsx";
import { RelativeTime } from "../../ui/time.tsx";

/** The browsers that are signed in, newest first. */
export function Logins() {
  const { data, error } = useFleetQuery("logins");
  const identity = useFleetQuery("access").data?.identity;
  const client = useQueryClient();
  const end = useFleetMutation("endLogin");
  const endLogin = (id: string, isOwn: boolean) => {
    if (isOwn) return void signOut();
    const onSuccess = () => client.invalidateQueries({ queryKey: ["logins"] });
    end.mutate({ params: { id } }, { onSuccess });
  };
  if (error && !data) return <ErrorNote error={error} />;
  if (!data) return <Loading />;
  return (
    <Panel title="Browsers" flush>
      {end.error && <ErrorNote error={end.error} />}
      <Table label="Browsers">
        <thead>
          <tr>
            <Th>Browser</Th>
            <Th>Scope</Th>
            <Th>Address</Th>
            <Th>Signed in</Th>
            <Th>Link created by</Th>
            <Th>Expires</Th>
            <Th>
              <span className="sr-only">Actions</span>
            </Th>
          </tr>
        </thead>
        <tbody>
          {data.logins.map((login) => {
            const name = `login:${login.id.slice(0, 8)}`;
            const isOwn = identity === name;
            return (
              <tr key={login.id} className="hover:bg-hover">
                <Td className="whitespace-nowrap" title={login.user_agent ?? undefined}>
                  <span className="font-mono text-sm">{name}</span>{" "}
                  {isOwn && <Badge tone="live">This browser</Badge>}
                </Td>
                <Td>{sentenceCase(login.scope)}</Td>
                <Td className="text-sm">{login.address}</Td>
                <Td className="text-sm text-muted">
                  <RelativeTime at={login.signed_in_at} />
                </Td>
                <Td className="text-sm">{login.link_created_by}</Td>
                <Td className="text-sm text-muted">
                  <RelativeTime at={login.expires_at} />
                </Td>
                <Td className="text-right">
                  <Button
                    size="small"
                    disabled={end.isPending}
                    onClick={() => endLogin(login.id, isOwn)}
                  >
                    Sign out
                  </Button>
                </Td>
              </tr>
            );
          })}
        </tbody>
      </Table>
    </Panel>
  );
}
