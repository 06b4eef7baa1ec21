import type {
  AccessToken,
  AuditApi,
  AuditPage,
  AuditQuery,
  CreatedToken,
  Login,
  LoginsApi,
  NewAccessToken,
  NodesApi,
  NodeView,
  TokensApi,
} from "@herdctl/protocol";
import { listNodes, viewSingleNode } from "../../cluster/list-nodes.ts";
import { defaultFleetLimit } from "../../jobs/dispatch/claim.ts";
import { version } from "../../lib/version.ts";
import type { FleetContext } from "./fleet-context.ts";

export class FleetTokens implements TokensApi {
  constructor(private readonly context: FleetContext) {}

  list(): Promise<AccessToken[]> {
    return this.context.read(() => this.context.lifecycle.access.tokens());
  }

  create(token: NewAccessToken): Promise<CreatedToken> {
    const { lifecycle, actor } = this.context;
    return this.context.read(() => lifecycle.access.createToken(token, actor));
  }

  revoke(name: string): Promise<void> {
    const { lifecycle, actor } = this.context;
    return this.context.read(() => lifecycle.access.revokeToken(name, actor));
  }
}

export class FleetLogins implements LoginsApi {
  constructor(private readonly context: FleetContext) {}

  list(): Promise<Login[]> {
    return this.context.read(() => this.context.lifecycle.access.logins());
  }

  end(loginId: string): Promise<void> {
    const { lifecycle, actor } = this.context;
    return this.context.read(() => lifecycle.access.endLogin(loginId, actor));
  }

  endAll(): Promise<number> {
    const { lifecycle, actor } = this.context;
    return this.context.read(() => lifecycle.access.endAllLogins(actor));
  }
}

export class FleetAudit implements AuditApi {
  constructor(private readonly context: FleetContext) {}

  list(query: AuditQuery = {}): Promise<AuditPage> {
    return this.context.read(({ state }) => state.audit.list(query));
  }
}

export class FleetNodes implements NodesApi {
  constructor(private readonly context: FleetContext) {}

  list(): Promise<NodeView[]> {
    return this.context.read(async ({ state, activeJobs }) => {
      const now = new Date();
      const { startedAt, config } = this.context.lifecycle;
      const { fleet } = config;
      if (fleet.store !== undefined) return listNodes(state, now);
      const capacity = fleet.fleet.max_concurrent ?? defaultFleetLimit;
      return [viewSingleNode({ running: activeJobs.size, capacity, version, startedAt }, now)];
    });
  }
}
