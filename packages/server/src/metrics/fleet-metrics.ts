import type { FleetControl, FleetEvent } from "@herdctl/protocol";
import { Registry } from "prom-client";
import { count, createEventCounters, type EventCounters } from "./event-counters.ts";
import { createGauges, type Gauges, updateGauges } from "./gauges.ts";

/** The fleet's metrics in the Prometheus format. */
export class FleetMetrics {
  readonly #registry = new Registry();
  readonly #counters: EventCounters = createEventCounters(this.#registry);
  readonly #gauges: Gauges = createGauges(this.#registry);

  constructor(private readonly control: FleetControl) {
    void this.#listen(control.events({ signal: new AbortController().signal }));
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  async render(): Promise<string> {
    await updateGauges(this.#gauges, this.control);
    return this.#registry.metrics();
  }

  /** Counts events until the fleet stops. An error in one metric must not stop the others. */
  async #listen(events: AsyncIterable<FleetEvent>): Promise<void> {
    for await (const event of events) {
      await count(this.#counters, event, this.control).catch(() => undefined);
    }
  }
}
