import { viewConfig } from "@herdctl/config";
import type {
  AccessToken,
  ApplyEditOptions,
  AuditApi,
  AuditPage,
  AuditQuery,
  BudgetApi,
  BudgetIncrease,
  BudgetView,
  ConfigApi,
  ConfigEdit,
  ConfigEditPreview,
  ConfigView,
  CostQuery,
  CostsApi,
  CostView,
  CreatedToken,
  DeliveriesApi,
  Delivery,
  DeliveryListView,
  DeliveryQuery,
  DeliveryWithBody,
  HookQuery,
  HookRun,
  HooksApi,
  Login,
  LoginsApi,
  NewAccessToken,
  NodesApi,
  NodeView,
  TokensApi,
} from "@herdctl/protocol";
import { listNodes, viewSingleNode } from "../../cluster/list-nodes.ts";
import { today } from "../../jobs/admission/decide-admission.ts";
import { defaultFleetLimit } from "../../jobs/dispatch/claim.ts";
import { version } from "../../lib/version.ts";
import { viewEdit, writeEdit } from "../config-edit.ts";
import { viewBudget } from "../views/budget.ts";
import { viewCosts } from "../views/costs.ts";
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

export class FleetBudget implements BudgetApi {
  constructor(private readonly context: FleetContext) {}

  get(): Promise<BudgetView> {
    return this.context.read(({ state, fleet }) => viewBudget(fleet(), state, new Date()));
  }

  raise({ agent, ...amounts }: BudgetIncrease): Promise<BudgetView> {
    const action = { action: "budget.raise" as const, target: agent, details: { ...amounts } };
    return this.context.perform(action, async ({ state, fleet, budgets }) => {
      const name = agent === undefined ? undefined : this.context.lifecycle.agent(agent).name;
      await state.budgets.raise(today(fleet()), name, amounts);
      budgets.refresh();
      return viewBudget(fleet(), state, new Date());
    });
  }
}

export class FleetCosts implements CostsApi {
  constructor(private readonly context: FleetContext) {}

  get(query: CostQuery = {}): Promise<CostView> {
    return this.context.read(({ state, fleet }) => viewCosts(fleet(), state, query, new Date()));
  }
}

export class FleetConfig implements ConfigApi {
  constructor(private readonly context: FleetContext) {}

  get(): Promise<ConfigView> {
    return this.context.read(async () => viewConfig(this.context.lifecycle.config));
  }

  preview(edit: ConfigEdit): Promise<ConfigEditPreview> {
    const { config, environment } = this.context.lifecycle;
    return this.context.read(async () => viewEdit(config, environment, edit));
  }

  /** Serialized, so that two edits of one file cannot overwrite each other. */
  edit(edit: ConfigEdit, { fingerprint }: ApplyEditOptions): Promise<ConfigEditPreview> {
    const { lifecycle, actor } = this.context;
    const paths = edit.changes.map(({ path }) => path.join(".")).join(", ");
    const write = () =>
      lifecycle.editing.runExclusive(async () => {
        const preview = await writeEdit(lifecycle.config, lifecycle.environment, edit, fingerprint);
        await lifecycle.reload(true, actor);
        return preview;
      });
    return this.context.perform(
      { action: "config.edit", target: edit.agent, details: { paths } },
      write,
      ({ file }) => ({ details: { file, paths } }),
    );
  }
}

export class FleetDeliveries implements DeliveriesApi {
  constructor(private readonly context: FleetContext) {}

  list(query: DeliveryQuery = {}): Promise<DeliveryListView> {
    return this.context.read(() => this.context.webhooks.list(query));
  }

  get(deliveryId: string): Promise<DeliveryWithBody | undefined> {
    return this.context.read(({ state }) => state.deliveries.get(deliveryId));
  }

  replay(deliveryId: string): Promise<Delivery> {
    const { webhooks, actor } = this.context;
    return this.context.perform(
      { action: "delivery.replay", target: deliveryId },
      () => webhooks.receiver.replay(deliveryId, actor),
      ({ job_id, agent }) => ({ details: { job: job_id, agent } }),
    );
  }
}

export class FleetHooks implements HooksApi {
  constructor(private readonly context: FleetContext) {}

  list(query: HookQuery = {}): Promise<HookRun[]> {
    return this.context.read(({ state }) => state.hooks.list(query));
  }

  retry(hookRunId: string): Promise<HookRun> {
    const action = { action: "hook.retry" as const, target: hookRunId };
    return this.context.perform(action, async ({ state, hooks }) => {
      const run = await state.hooks.retry(hookRunId);
      hooks.wake();
      return run;
    });
  }
}
