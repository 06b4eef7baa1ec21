import type { ErrorBody } from "@herdctl/server/contract";

type ErrorItems = ErrorBody["errors"];

/** A request that the fleet rejected, or that could not reach it, with a hint for the user. */
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

  static fromResponse(status: number, errors: ErrorItems): FleetError {
    const [first] = errors;
    const message =
      errors.map(formatMessage).join("\n") || `The fleet responded with status ${status}.`;
    return new FleetError(status, first?.code ?? "unknown", message, first?.hint ?? "");
  }

  static unreachable(): FleetError {
    const hint = "Run `herdctl status` in the fleet's folder, or start it with `herdctl start`.";
    return new FleetError(0, "fleet_unreachable", "The fleet is not responding.", hint);
  }
}

function formatMessage({ path, message }: ErrorItems[number]): string {
  return path === undefined ? message : `${path}: ${message}`;
}
