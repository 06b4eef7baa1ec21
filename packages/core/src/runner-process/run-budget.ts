import type { SpendLimit } from "../gateway/metering/decide-call.ts";
import type { SpendMeter } from "../gateway/metering/spend-meter.ts";
import type { RunOrder } from "../runner/run-order.ts";
import type { SpendingTold } from "./contract.ts";

/** Carries what a run has spent to its fleet, and what it may still spend to its gateway. */
export class RunBudget {
  private readonly ownLimits: readonly SpendLimit[];
  private shared: readonly SpendLimit[] | undefined;
  private meter: SpendMeter | undefined;

  constructor(
    private readonly order: Pick<RunOrder, "attempt" | "spend">,
    private readonly tell: (spent: SpendingTold) => void,
  ) {
    this.ownLimits = order.spend?.limits.filter(({ scope }) => scope === "run") ?? [];
  }

  get told(): SpendingTold {
    const { usd, tokens } = this.meter?.spent ?? { usd: 0, tokens: 0 };
    return { type: "spending", attempt: this.order.attempt, usd, tokens };
  }

  readonly attach = (meter: SpendMeter): void => {
    this.meter = meter;
    meter.onChange = () => this.tell(this.told);
    if (this.shared) this.share(this.shared);
  };

  /** The fleet may say it before the run is open. */
  share(limits: readonly SpendLimit[]): void {
    this.shared = limits;
    this.meter?.setLimits([...limits, ...this.ownLimits]);
  }
}
