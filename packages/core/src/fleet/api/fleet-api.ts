import type {
  ArtifactsApi,
  ChatApi,
  FleetControl,
  FleetEvent,
  FleetEventListener,
  FleetEventType,
  FleetStatus,
  ShutdownOptions,
  SignalOptions,
} from "@herdctl/protocol";
import { version } from "../../lib/version.ts";
import type { Actor } from "../../store/model/identity.ts";
import { listJobArtifacts, openJobArtifact } from "../views/artifacts.ts";
import { viewFleetStatus } from "../views/status.ts";
import {
  FleetAudit,
  FleetBudget,
  FleetConfig,
  FleetCosts,
  FleetDeliveries,
  FleetHooks,
  FleetLogins,
  FleetNodes,
  FleetTokens,
} from "./administration.ts";
import { FleetAgents, FleetNotes, FleetSchedules } from "./agents.ts";
import { FleetContext, type FleetParts } from "./fleet-context.ts";
import { FleetApprovals, FleetJobs, FleetSessions } from "./jobs.ts";
import { FleetPush } from "./push.ts";
import { FleetRules } from "./rules.ts";

/** All operations of a fleet for one actor. */
export class FleetApi implements FleetControl {
  readonly jobs: FleetJobs;
  readonly artifacts: ArtifactsApi;
  readonly sessions: FleetSessions;
  readonly approvals: FleetApprovals;
  readonly rules: FleetRules;
  readonly push: FleetPush;
  readonly agents: FleetAgents;
  readonly notes: FleetNotes;
  readonly schedules: FleetSchedules;
  readonly deliveries: FleetDeliveries;
  readonly hooks: FleetHooks;
  readonly budget: FleetBudget;
  readonly costs: FleetCosts;
  readonly config: FleetConfig;
  readonly chat: ChatApi;
  readonly nodes: FleetNodes;
  readonly tokens: FleetTokens;
  readonly logins: FleetLogins;
  readonly audit: FleetAudit;
  protected readonly context: FleetContext;

  constructor(parts: FleetParts, actor: Actor) {
    const context = new FleetContext(parts, actor);
    this.context = context;
    this.jobs = new FleetJobs(context);
    this.artifacts = {
      list: (jobId) => context.read(({ state }) => listJobArtifacts(state, jobId)),
      read: (jobId, name) => context.read(({ state }) => openJobArtifact(state, jobId, name)),
    };
    this.sessions = new FleetSessions(context, this.jobs);
    this.approvals = new FleetApprovals(context);
    this.rules = new FleetRules(context);
    this.push = new FleetPush(context);
    this.agents = new FleetAgents(context, () => this.status());
    this.notes = new FleetNotes(context);
    this.schedules = new FleetSchedules(context);
    this.deliveries = new FleetDeliveries(context);
    this.hooks = new FleetHooks(context);
    this.budget = new FleetBudget(context);
    this.costs = new FleetCosts(context);
    this.config = new FleetConfig(context);
    this.chat = { connections: () => context.read(async ({ chat }) => chat?.status ?? []) };
    this.nodes = new FleetNodes(context);
    this.tokens = new FleetTokens(context);
    this.logins = new FleetLogins(context);
    this.audit = new FleetAudit(context);
  }

  status(): Promise<FleetStatus> {
    const { lifecycle, http } = this.context;
    const { config, condition, startedAt } = lifecycle;
    return lifecycle.withServices(({ state, activeJobs, clock, cluster }) =>
      viewFleetStatus({
        loaded: config,
        state,
        nextDueTimes: clock?.next() ?? [],
        activeJobs: [...activeJobs.values()],
        nodes: cluster?.nodes,
        version,
        startedAt,
        condition,
        url: http.url,
      }),
    );
  }

  reload(): Promise<void> {
    const { lifecycle, actor } = this.context;
    return this.context.perform({ action: "fleet.reload" }, () => lifecycle.reload(true, actor));
  }

  shutdown(options?: ShutdownOptions): Promise<void> {
    return this.context.lifecycle.shutdown(options, this.context.actor);
  }

  events({ signal = new AbortController().signal }: SignalOptions = {}): AsyncIterable<FleetEvent> {
    return this.context.lifecycle.hub.stream(signal);
  }

  on<T extends FleetEventType>(type: T, listener: FleetEventListener<T>): () => void {
    return this.context.lifecycle.hub.on(type, listener);
  }

  once<T extends FleetEventType>(type: T, listener: FleetEventListener<T>): () => void {
    return this.context.lifecycle.hub.once(type, listener);
  }

  off<T extends FleetEventType>(type: T, listener: FleetEventListener<T>): void {
    this.context.lifecycle.hub.off(type, listener);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.shutdown();
  }
}
