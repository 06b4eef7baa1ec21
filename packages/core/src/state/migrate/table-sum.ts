import { createHash } from "node:crypto";
import type { Value } from "../sql/steps.ts";

const modulus = 2n ** 256n;

/**
 * What a table holds, as one number: how many rows, and the sum of what each row's values hash to.
 * Where the rows are numbered their order counts, too.
 */
export class TableSum {
  rows = 0;
  #sum = 0n;

  constructor(private readonly isNumbered: boolean) {}

  add(values: readonly Value[]): void {
    const told = this.isNumbered ? [this.rows, ...values] : values;
    const digest = createHash("sha256").update(JSON.stringify(told)).digest("hex");
    this.#sum = (this.#sum + BigInt(`0x${digest}`)) % modulus;
    this.rows += 1;
  }

  get checksum(): string {
    return this.#sum.toString(16).padStart(64, "0");
  }

  equals(other: TableSum): boolean {
    return this.rows === other.rows && this.checksum === other.checksum;
  }
}
