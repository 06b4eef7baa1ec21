import { useFleetQuery } from "../../api/queries.ts";
import { Loading } from "../../ui/loading.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { AdminOnly } from "../admin-only.tsx";
import { SignOutAll } from "../audit/sign-out-all.tsx";
import { Logins } from "./logins.tsx";
import { PermissionRules } from "./permission-rules.tsx";
import { Tokens } from "./tokens.tsx";

/** Everything that can reach the fleet over its port: signed-in browsers and tokens. */
export function AccessPage() {
  const scope = useFleetQuery("access").data?.scope;
  if (scope === undefined) return <Loading lines={4} />;
  const isAdmin = scope === "admin";
  return (
    <>
      <PageHeader
        title="Access"
        note="Rules of agents, signed-in browsers and API tokens, with what each of them may do"
        actions={isAdmin && <SignOutAll />}
      />
      {isAdmin ? (
        <div className="flex flex-col gap-4">
          <PermissionRules />
          <Tokens />
          <Logins />
        </div>
      ) : (
        <div className="flex flex-col gap-4">
          <PermissionRules />
          <AdminOnly />
        </div>
      )}
    </>
  );
}
