import type {
  AgentsApi,
  ApprovalsApi,
  ArtifactsApi,
  AuditApi,
  BudgetApi,
  ChatApi,
  ConfigApi,
  CostsApi,
  DeliveriesApi,
  FleetControl,
  FleetEvent,
  FleetEventListener,
  FleetEventType,
  FleetStatus,
  HooksApi,
  JobOutput,
  JobsApi,
  LoginsApi,
  NodesApi,
  NotesApi,
  PushApi,
  RulesApi,
  SchedulesApi,
  SessionsApi,
  ShutdownOptions,
  SignalOptions,
  TokensApi,
} from "../api/fleet-control.ts";
import type { TriggerRequest } from "../api/trigger.ts";
import { hasErrorCode } from "../lib/error-code.ts";
import type { ApprovalDecision } from "../records/approval.ts";
import type { Job } from "../records/job.ts";
import type { FleetHttpClient, FleetRequest } from "./http-transport.ts";
import type { ReceivedSseEvent } from "./read-sse-events.ts";
import { RemoteEvents } from "./remote-events.ts";
import type { RouteName } from "./routes.ts";

type Result<F extends (...args: never[]) => unknown> = Awaited<ReturnType<F>>;

const acceptSse = { accept: "text/event-stream" };

/**
 * A fleet in another process. `close`, or the end of `await using`, closes the connection only.
 * Listeners of `on` continue with the next fleet process after a restart, without the events of the
 * time between; streams of `events` end.
 */
export interface FleetClient extends FleetControl {
  /** Creates a link that signs in one browser. Only on the fleet's socket. */
  createLoginLink(options?: { readOnly?: boolean }): Promise<{ url: string; expires_at: string }>;
  close(): void;
}

/** Controls a fleet in another process. */
export class RemoteFleet implements FleetClient {
  /** Event streams that are opening. Later calls wait for them, so that the streams include their events. */
  readonly #openingStreams = new Set<Promise<unknown>>();
  readonly #events = new RemoteEvents((signal) => this.events({ signal }));

  constructor(private readonly httpClient: FleetHttpClient) {}

  readonly jobs: JobsApi = {
    trigger: (request) => this.#call("trigger", { body: toTriggerBody(request) }),
    get: (id) => undefinedIfNotFound("job_not_found", this.#call("job", { params: { id } })),
    list: (query) => this.#call("jobs", { query: { ...query } }),
    search: (query) => this.#call("search", { query: { ...query } }),
    chain: async (id) => {
      const { jobs } = await this.#call<{ jobs: Job[] }>("chain", { params: { id } });
      return jobs;
    },
    wait: async (id, { signal } = {}) => {
      for (;;) {
        const job = await this.#call<Job>("wait", { params: { id }, signal });
        if (job.finished_at !== null) return job;
      }
    },
    retry: (id, options = {}) => this.#call("retry", { params: { id }, body: { ...options } }),
    rewindPoints: async (id) => (await this.#list("rewindPoints", { params: { id } })).points,
    rewind: (id, options = {}) => this.#call("rewind", { params: { id }, body: { ...options } }),
    tryNow: (id) => this.#call("tryNow", { params: { id } }),
    cancel: (id, options = {}) => this.#call("cancel", { params: { id }, body: { ...options } }),
    cancelAll: ({ agent, ...options }) =>
      this.#call("cancelAll", { params: { agent }, body: options }),
    output: (id, { from, follow, signal } = {}) => {
      const query = { from, follow: follow ? "true" : undefined };
      const request = { params: { id }, query, headers: acceptSse, signal };
      const open = () => this.httpClient.openResponse("output", request);
      return parseEventData<JobOutput>(this.httpClient.streamEvents(open, signal));
    },
  };

  readonly artifacts: ArtifactsApi = {
    list: async (id) => (await this.#list("artifacts", { params: { id } })).artifacts,
    read: (id, name) =>
      undefinedIfNotFound(
        "artifact_not_found",
        this.httpClient.openResponse("artifact", { params: { id, name } }),
      ),
  };

  readonly sessions: SessionsApi = {
    list: async (query = {}) => (await this.#list("sessions", { query })).sessions,
    resume: (id, prompt) => this.#call("resume", { params: { id }, body: { prompt } }),
    fork: (id, prompt, { forkPoint } = {}) =>
      this.#call("fork", { params: { id }, body: { prompt, fork_point: forkPoint } }),
  };

  readonly approvals: ApprovalsApi = {
    list: async (query = {}) => (await this.#list("approvals", { query })).approvals,
    answer: (id, decision, options = {}) =>
      this.#call("answer", { params: { id }, body: { ...toAnswer(decision), ...options } }),
  };

  readonly rules: RulesApi = {
    list: async (query = {}) => (await this.#list("rules", { query })).rules,
    remove: (id) => this.#call("removeRule", { params: { id } }),
  };

  readonly push: PushApi = {
    publicKey: async () => (await this.#call<{ key: string }>("pushKey")).key,
    subscribe: (subscription) => this.#call("subscribePush", { body: subscription }),
    unsubscribe: (id) => this.#call("unsubscribePush", { params: { id } }),
  };

  readonly agents: AgentsApi = {
    list: async () => (await this.#list("agents")).agents,
    get: (agent) =>
      undefinedIfNotFound("agent_not_found", this.#call("agent", { params: { agent } })),
    pause: (agent) => this.#call("pauseAgent", { params: { agent } }),
    resume: (agent) => this.#call("resumeAgent", { params: { agent } }),
  };

  readonly notes: NotesApi = {
    list: async (agent) => (await this.#list("notes", { params: { agent } })).notes,
    read: async (agent, name) => {
      const note = this.#call<{ text: string }>("note", { params: { agent, name } });
      return (await undefinedIfNotFound("note_not_found", note))?.text;
    },
  };

  readonly schedules: SchedulesApi = {
    list: async () => (await this.#list("schedules")).schedules,
    dueTimes: (query) => this.#call("dueTimes", { query: { ...query } }),
    enable: (ref) => this.#call("updateSchedule", { params: { ...ref }, body: { enabled: true } }),
    disable: (ref) =>
      this.#call("updateSchedule", { params: { ...ref }, body: { enabled: false } }),
    remove: (ref) => this.#call("removeSchedule", { params: { ...ref } }),
  };

  readonly deliveries: DeliveriesApi = {
    list: (query) => this.#call("deliveries", { query: { ...query } }),
    get: (id) =>
      undefinedIfNotFound("delivery_not_found", this.#call("delivery", { params: { id } })),
    replay: (id) => this.#call("replay", { params: { id } }),
  };

  readonly hooks: HooksApi = {
    list: async (query) => (await this.#list("hooks", { query: { ...query } })).hooks,
    retry: (id) => this.#call("retryHook", { params: { id } }),
  };

  readonly budget: BudgetApi = {
    get: () => this.#call("budget"),
    raise: (increase) => this.#call("raiseBudget", { body: increase }),
  };

  readonly costs: CostsApi = { get: (query) => this.#call("costs", { query: { ...query } }) };

  readonly config: ConfigApi = {
    get: () => this.#call("configuration"),
    preview: (edit) => this.#call("previewEdit", { body: edit }),
    edit: (edit, { fingerprint }) => this.#call("applyEdit", { body: { ...edit, fingerprint } }),
  };

  readonly chat: ChatApi = {
    connections: async () => (await this.#list("chat")).connections,
  };

  readonly nodes: NodesApi = { list: async () => (await this.#list("nodes")).nodes };

  readonly tokens: TokensApi = {
    list: async () => (await this.#list("tokens")).tokens,
    create: (token) => this.#call("createToken", { body: token }),
    revoke: (name) => this.#call("revokeToken", { params: { name } }),
  };

  readonly logins: LoginsApi = {
    list: async () => (await this.#list("logins")).logins,
    end: (id) => this.#call("endLogin", { params: { id } }),
    endAll: async () => {
      const { ended } = await this.#call<{ ended: number }>("endAllLogins");
      return ended;
    },
  };

  readonly audit: AuditApi = { list: (query) => this.#call("audit", { query: { ...query } }) };

  status(): Promise<FleetStatus> {
    return this.#call("status");
  }

  createLoginLink({ readOnly }: { readOnly?: boolean } = {}) {
    const body = { read_only: readOnly };
    return this.#call<Result<FleetClient["createLoginLink"]>>("loginLink", { body });
  }

  reload(): Promise<void> {
    return this.#call("reload");
  }

  async shutdown({ drainMs, detach }: ShutdownOptions = {}): Promise<void> {
    try {
      await this.#call("shutdown", { body: { drain_ms: drainMs, detach } });
    } catch (error) {
      // The fleet may stop before it has sent its response.
      if (!hasErrorCode(error, "fleet_unreachable")) throw error;
    }
  }

  events({ signal }: SignalOptions = {}): AsyncIterable<FleetEvent> {
    const response = this.httpClient.openResponse("events", { headers: acceptSse, signal });
    const settled = response
      .catch(() => undefined)
      .then(() => {
        this.#openingStreams.delete(settled);
      });
    this.#openingStreams.add(settled);
    return parseEventData<FleetEvent>(this.httpClient.streamEvents(() => response, signal));
  }

  on<T extends FleetEventType>(type: T, listener: FleetEventListener<T>): () => void {
    return this.#events.on(type, listener);
  }

  once<T extends FleetEventType>(type: T, listener: FleetEventListener<T>): () => void {
    return this.#events.once(type, listener);
  }

  off<T extends FleetEventType>(type: T, listener: FleetEventListener<T>): void {
    this.#events.off(type, listener);
  }

  close(): void {
    this.#events.close();
    this.httpClient.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  /** A response with one list, under the name that the caller reads. */
  #list(name: RouteName, request?: FleetRequest): Promise<Lists> {
    return this.#call(name, request);
  }

  async #call<T>(name: RouteName, request: FleetRequest = {}): Promise<T> {
    await Promise.all(this.#openingStreams);
    // The server validates every response against the contract.
    return (await this.httpClient.call(name, request)) as T;
  }
}

/** The responses that wrap a list in an object. */
interface Lists {
  points: Result<JobsApi["rewindPoints"]>;
  artifacts: Result<ArtifactsApi["list"]>;
  sessions: Result<SessionsApi["list"]>;
  approvals: Result<ApprovalsApi["list"]>;
  rules: Result<RulesApi["list"]>;
  agents: Result<AgentsApi["list"]>;
  notes: Result<NotesApi["list"]>;
  schedules: Result<SchedulesApi["list"]>;
  hooks: Result<HooksApi["list"]>;
  connections: Result<ChatApi["connections"]>;
  nodes: Result<NodesApi["list"]>;
  tokens: Result<TokensApi["list"]>;
  logins: Result<LoginsApi["list"]>;
}

function toTriggerBody({ forkPoint, ...request }: TriggerRequest) {
  return { ...request, fork_point: forkPoint };
}

function toAnswer(decision: ApprovalDecision) {
  if (typeof decision === "string") return { decision };
  return "allow" in decision ? { decision: "allow", scope: decision.allow } : decision;
}

async function undefinedIfNotFound<T>(code: string, response: Promise<T>): Promise<T | undefined> {
  try {
    return await response;
  } catch (error) {
    if (hasErrorCode(error, code)) return undefined;
    throw error;
  }
}

async function* parseEventData<T>(events: AsyncIterable<ReceivedSseEvent>): AsyncGenerator<T> {
  for await (const { data } of events) yield JSON.parse(data);
}
