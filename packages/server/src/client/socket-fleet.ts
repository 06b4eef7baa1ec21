import type {
  Amounts,
  AuditQuery,
  CostRequest,
  DeliveryQuery,
  DueQuery,
  FleetEvent,
  HookQuery,
  JobOutput,
  JobQuery,
  NewAccessToken,
  OutputOptions,
  ScheduleName,
  TriggerRequest,
  Word,
} from "@herdctl/core";
import type { BodyOf, ResponseOf } from "../contract/endpoint.ts";
import type { Endpoints } from "../contract/endpoints.ts";
import type { RouteName } from "../contract/routes.ts";
import { hasCode } from "./failure.ts";
import type { FleetClient } from "./fleet-client.ts";
import type { ReadFrame } from "./read-frames.ts";
import type { Message, Wire } from "./wire.ts";

type Answer<N extends RouteName> = ResponseOf<Endpoints[N]>;
type TypedMessage<N extends RouteName> = Omit<Message, "body"> & { body?: BodyOf<Endpoints[N]> };

const sse = { accept: "text/event-stream" };

/** A fleet in another process. */
export class SocketFleet implements FleetClient {
  /** Streams of events that are being opened: what is asked after that shall be seen in them. */
  readonly #opening = new Set<Promise<unknown>>();

  constructor(private readonly wire: Wire) {}

  status() {
    return this.#ask("status");
  }

  trigger(request: TriggerRequest) {
    return this.#ask("trigger", { body: request });
  }

  resume(id: string, prompt: string) {
    return this.#ask("resume", { params: { id }, body: { prompt } });
  }

  fork(id: string, prompt: string, at?: string) {
    return this.#ask("fork", { params: { id }, body: { prompt, at } });
  }

  async wait(id: string, signal?: AbortSignal) {
    for (;;) {
      const job = await this.#ask("wait", { params: { id }, signal });
      if (job.finished_at !== null) return job;
    }
  }

  cancel(id: string, options: { force?: boolean } = {}) {
    return this.#ask("cancel", { params: { id }, body: options });
  }

  job(id: string) {
    return unlessMissing("job_not_found", this.#ask("job", { params: { id } }));
  }

  async chain(id: string) {
    return (await this.#ask("chain", { params: { id } })).jobs;
  }

  jobs(query: JobQuery) {
    return this.#ask("jobs", { query: { ...query } });
  }

  output(id: string, { from, follow }: OutputOptions = {}): AsyncIterable<JobOutput> {
    const query = { from, follow: follow ? "true" : undefined };
    const message = { params: { id }, query, headers: sse, signal: follow };
    return parsed<JobOutput>(this.wire.frames(() => this.wire.open("output", message), follow));
  }

  async approvals(query: { job?: string } = {}) {
    return (await this.#ask("approvals", { query })).approvals;
  }

  answer(id: string, word: Word, by?: string, reason?: string) {
    const said = typeof word === "string" ? { word } : word;
    return this.#ask("answer", { params: { id }, body: { ...said, by, reason } });
  }

  async sessions(query: { agent?: string } = {}) {
    return (await this.#ask("sessions", { query })).sessions;
  }

  deliveries(query: DeliveryQuery) {
    return this.#ask("deliveries", { query: { ...query } });
  }

  delivery(id: string) {
    return unlessMissing("delivery_not_found", this.#ask("delivery", { params: { id } }));
  }

  replay(deliveryId: string) {
    return this.#ask("replay", { params: { id: deliveryId } });
  }

  async schedules() {
    return (await this.#ask("schedules")).schedules;
  }

  dueTimes(query: DueQuery) {
    return this.#ask("dueTimes", { query: { ...query } });
  }

  switchSchedule({ agent, schedule }: ScheduleName, enabled: boolean) {
    return this.#ask("switchSchedule", { params: { agent, schedule }, body: { enabled } });
  }

  removeSchedule({ agent, schedule }: ScheduleName) {
    return this.#ask("removeSchedule", { params: { agent, schedule } });
  }

  budget() {
    return this.#ask("budget");
  }

  raiseBudget(agent: string | undefined, by: Partial<Amounts>) {
    return this.#ask("raiseBudget", { body: { agent, ...by } });
  }

  costs(request: CostRequest) {
    return this.#ask("costs", { query: { ...request } });
  }

  async artifacts(id: string) {
    return (await this.#ask("artifacts", { params: { id } })).artifacts;
  }

  artifact(id: string, name: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    return unlessMissing(
      "artifact_not_found",
      this.wire.open("artifact", { params: { id, name } }),
    );
  }

  async notes(agent: string) {
    return (await this.#ask("notes", { params: { agent } })).notes;
  }

  async note(agent: string, name: string) {
    const found = this.#ask("note", { params: { agent, name } });
    return (await unlessMissing("note_not_found", found))?.text;
  }

  pauseAgent(agent: string) {
    return this.#ask("pauseAgent", { params: { agent } });
  }

  resumeAgent(agent: string) {
    return this.#ask("resumeAgent", { params: { agent } });
  }

  async hooks(query: HookQuery) {
    return (await this.#ask("hooks", { query: { ...query } })).hooks;
  }

  retryHook(id: string) {
    return this.#ask("retryHook", { params: { id } });
  }

  configuration() {
    return this.#ask("configuration");
  }

  loginLink(options: BodyOf<Endpoints["loginLink"]>) {
    return this.#ask("loginLink", { body: options });
  }

  async chat() {
    return (await this.#ask("chat")).links;
  }

  async nodes() {
    return (await this.#ask("nodes")).nodes;
  }

  audit(query: AuditQuery) {
    return this.#ask("audit", { query: { ...query } });
  }

  async tokens() {
    return (await this.#ask("tokens")).tokens;
  }

  createToken({ agents, ...wanted }: NewAccessToken) {
    return this.#ask("createToken", { body: { ...wanted, agents: agents && [...agents] } });
  }

  revokeToken(name: string) {
    return this.#ask("revokeToken", { params: { name } });
  }

  async logins() {
    return (await this.#ask("logins")).logins;
  }

  endLogin(id: string) {
    return this.#ask("endLogin", { params: { id } });
  }

  async endAllLogins() {
    return (await this.#ask("endAllLogins")).ended;
  }

  reload() {
    return this.#ask("reload");
  }

  async shutdown(options: BodyOf<Endpoints["shutdown"]> = {}) {
    try {
      await this.#ask("shutdown", { body: options });
    } catch (error) {
      // One that has gone before it could say so has stopped.
      if (!hasCode(error, "fleet_unreachable")) throw error;
    }
  }

  events(signal: AbortSignal): AsyncIterable<FleetEvent> {
    const opened = this.wire.open("events", { headers: sse, signal });
    const settled = opened
      .catch(() => undefined)
      .then(() => {
        this.#opening.delete(settled);
      });
    this.#opening.add(settled);
    return parsed<FleetEvent>(this.wire.frames(() => opened, signal));
  }

  close() {
    this.wire.close();
  }

  async #ask<N extends RouteName>(name: N, message: TypedMessage<N> = {}): Promise<Answer<N>> {
    await Promise.all(this.#opening);
    // The edge: the fleet's own schemas have shaped the answer.
    return (await this.wire.ask(name, message)) as Answer<N>;
  }
}

async function unlessMissing<T>(code: string, asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (hasCode(error, code)) return undefined;
    throw error;
  }
}

async function* parsed<T>(frames: AsyncIterable<ReadFrame>): AsyncGenerator<T> {
  for await (const { data } of frames) yield JSON.parse(data);
}
