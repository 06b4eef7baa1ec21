import {
  type ApprovalDecision,
  type AuditQuery,
  type BudgetAmounts,
  type CostQuery,
  type DeliveryQuery,
  type DueTimeQuery,
  type FleetEvent,
  type HookQuery,
  hasErrorCode,
  type JobOutput,
  type JobQuery,
  type NewAccessToken,
  type OutputOptions,
  type ScheduleRef,
  type TriggerRequest,
} from "@herdctl/protocol";
import type { BodyOf, ResponseOf } from "../contract/define-endpoint.ts";
import type { Endpoints } from "../contract/endpoints.ts";
import type { RouteName } from "../contract/routes.ts";
import type { FleetClient } from "./fleet-client.ts";
import type { FleetHttpClient, FleetRequest } from "./fleet-http-client.ts";
import type { ReceivedSseEvent } from "./read-sse-events.ts";

type ResponseBody<N extends RouteName> = ResponseOf<Endpoints[N]>;
type TypedRequest<N extends RouteName> = Omit<FleetRequest, "body"> & {
  body?: BodyOf<Endpoints[N]>;
};

const acceptSse = { accept: "text/event-stream" };

/** Controls a fleet in another process over its socket. */
export class SocketFleetClient implements FleetClient {
  /** Event streams that are opening. Later calls wait for them, so that the streams include their events. */
  readonly #openingStreams = new Set<Promise<unknown>>();

  constructor(private readonly httpClient: FleetHttpClient) {}

  status() {
    return this.#call("status");
  }

  trigger(request: TriggerRequest) {
    return this.#call("trigger", { body: request });
  }

  resume(id: string, prompt: string) {
    return this.#call("resume", { params: { id }, body: { prompt } });
  }

  fork(id: string, prompt: string, at?: string) {
    return this.#call("fork", { params: { id }, body: { prompt, at } });
  }

  async wait(id: string, signal?: AbortSignal) {
    for (;;) {
      const job = await this.#call("wait", { params: { id }, signal });
      if (job.finished_at !== null) return job;
    }
  }

  cancel(id: string, options: { force?: boolean } = {}) {
    return this.#call("cancel", { params: { id }, body: options });
  }

  job(id: string) {
    return undefinedIfNotFound("job_not_found", this.#call("job", { params: { id } }));
  }

  async chain(id: string) {
    return (await this.#call("chain", { params: { id } })).jobs;
  }

  jobs(query: JobQuery) {
    return this.#call("jobs", { query: { ...query } });
  }

  output(id: string, { from, follow }: OutputOptions = {}): AsyncIterable<JobOutput> {
    const query = { from, follow: follow ? "true" : undefined };
    const request = { params: { id }, query, headers: acceptSse, signal: follow };
    return parseEventData<JobOutput>(
      this.httpClient.streamEvents(() => this.httpClient.openResponse("output", request), follow),
    );
  }

  async approvals(query: { job?: string } = {}) {
    return (await this.#call("approvals", { query })).approvals;
  }

  answer(id: string, decision: ApprovalDecision, by?: string, reason?: string) {
    const decisionFields = typeof decision === "string" ? { decision } : decision;
    return this.#call("answer", { params: { id }, body: { ...decisionFields, by, reason } });
  }

  async sessions(query: { agent?: string } = {}) {
    return (await this.#call("sessions", { query })).sessions;
  }

  deliveries(query: DeliveryQuery) {
    return this.#call("deliveries", { query: { ...query } });
  }

  delivery(id: string) {
    return undefinedIfNotFound("delivery_not_found", this.#call("delivery", { params: { id } }));
  }

  replay(deliveryId: string) {
    return this.#call("replay", { params: { id: deliveryId } });
  }

  async schedules() {
    return (await this.#call("schedules")).schedules;
  }

  dueTimes(query: DueTimeQuery) {
    return this.#call("dueTimes", { query: { ...query } });
  }

  switchSchedule({ agent, schedule }: ScheduleRef, enabled: boolean) {
    return this.#call("switchSchedule", { params: { agent, schedule }, body: { enabled } });
  }

  removeSchedule({ agent, schedule }: ScheduleRef) {
    return this.#call("removeSchedule", { params: { agent, schedule } });
  }

  budget() {
    return this.#call("budget");
  }

  raiseBudget(agent: string | undefined, by: Partial<BudgetAmounts>) {
    return this.#call("raiseBudget", { body: { agent, ...by } });
  }

  costs(request: CostQuery) {
    return this.#call("costs", { query: { ...request } });
  }

  async artifacts(id: string) {
    return (await this.#call("artifacts", { params: { id } })).artifacts;
  }

  artifact(id: string, name: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    return undefinedIfNotFound(
      "artifact_not_found",
      this.httpClient.openResponse("artifact", { params: { id, name } }),
    );
  }

  async notes(agent: string) {
    return (await this.#call("notes", { params: { agent } })).notes;
  }

  async note(agent: string, name: string) {
    const note = this.#call("note", { params: { agent, name } });
    return (await undefinedIfNotFound("note_not_found", note))?.text;
  }

  pauseAgent(agent: string) {
    return this.#call("pauseAgent", { params: { agent } });
  }

  resumeAgent(agent: string) {
    return this.#call("resumeAgent", { params: { agent } });
  }

  async hooks(query: HookQuery) {
    return (await this.#call("hooks", { query: { ...query } })).hooks;
  }

  retryHook(id: string) {
    return this.#call("retryHook", { params: { id } });
  }

  configuration() {
    return this.#call("configuration");
  }

  createLoginLink(options: BodyOf<Endpoints["loginLink"]>) {
    return this.#call("loginLink", { body: options });
  }

  async chat() {
    return (await this.#call("chat")).links;
  }

  async nodes() {
    return (await this.#call("nodes")).nodes;
  }

  audit(query: AuditQuery) {
    return this.#call("audit", { query: { ...query } });
  }

  async tokens() {
    return (await this.#call("tokens")).tokens;
  }

  createToken({ agents, ...fields }: NewAccessToken) {
    return this.#call("createToken", { body: { ...fields, agents: agents && [...agents] } });
  }

  revokeToken(name: string) {
    return this.#call("revokeToken", { params: { name } });
  }

  async logins() {
    return (await this.#call("logins")).logins;
  }

  endLogin(id: string) {
    return this.#call("endLogin", { params: { id } });
  }

  async endAllLogins() {
    return (await this.#call("endAllLogins")).ended;
  }

  reload() {
    return this.#call("reload");
  }

  async shutdown(options: BodyOf<Endpoints["shutdown"]> = {}) {
    try {
      await this.#call("shutdown", { body: options });
    } catch (error) {
      // The fleet may stop before it has sent its response.
      if (!hasErrorCode(error, "fleet_unreachable")) throw error;
    }
  }

  events(signal: AbortSignal): AsyncIterable<FleetEvent> {
    const response = this.httpClient.openResponse("events", { headers: acceptSse, signal });
    const settled = response
      .catch(() => undefined)
      .then(() => {
        this.#openingStreams.delete(settled);
      });
    this.#openingStreams.add(settled);
    return parseEventData<FleetEvent>(this.httpClient.streamEvents(() => response, signal));
  }

  close() {
    this.httpClient.close();
  }

  async #call<N extends RouteName>(
    name: N,
    request: TypedRequest<N> = {},
  ): Promise<ResponseBody<N>> {
    await Promise.all(this.#openingStreams);
    // The server validates every response against the contract.
    return (await this.httpClient.call(name, request)) as ResponseBody<N>;
  }
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
