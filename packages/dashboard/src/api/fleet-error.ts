import type { Failure } from "@herdctl/server/contract";

type Told = Failure["errors"];

/** Something the fleet refused, or that it is not there; said so that a person can act on it. */
export class FleetError extends Error {
  override readonly name = "FleetError";

  private constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly hint: string,
  ) {
    super(message);
  }

  static told(status: number, errors: Told): FleetError {
    const [first] = errors;
    const message = errors.map(sentence).join("\n") || `The fleet answered ${status}.`;
    return new FleetError(status, first?.code ?? "unknown", message, first?.hint ?? "");
  }

  static unreachable(): FleetError {
    const hint = "Run `herdctl status` in the folder of the fleet, or `herdctl start`.";
    return new FleetError(0, "fleet_unreachable", "The fleet does not answer.", hint);
  }
}

function sentence({ path, message }: Told[number]): string {
  return path === undefined ? message : `${path}: ${message}`;
}
