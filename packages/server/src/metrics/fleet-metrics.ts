import type { FleetControl, FleetEvent } from "@herdctl/core";
import { Registry } from "prom-client";
import { count, type EventCounters, makeCounters } from "./event-counters.ts";
import { type Gauges, makeGauges, measure } from "./gauges.ts";

/** What a fleet has done since it started, and where it stands, in the form that Prometheus reads. */
export class FleetMetrics {
  readonly #registry = new Registry();
  readonly #counters: EventCounters = makeCounters(this.#registry);
  readonly #gauges: Gauges = makeGauges(this.#registry);

  constructor(private readonly control: FleetControl) {
    void this.#listen(control.events(new AbortController().signal));
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  async text(): Promise<string> {
    await measure(this.#gauges, this.control);
    return this.#registry.metrics();
  }

  /** To its end with the fleet. A figure that cannot be had must not be the end of all others. */
  async #listen(events: AsyncIterable<FleetEvent>): Promise<void> {
    for await (const event of events) {
      await count(this.#counters, event, this.control).catch(() => undefined);
    }
  }
}
