import v8 from "@vitest/coverage-v8";
import { V8CoverageProvider } from "@vitest/coverage-v8/dist/provider.js";
import type { CoverageMap } from "istanbul-lib-coverage";
import type { CoverageProviderModule, ReportContext } from "vitest/node";
import { BuiltPrograms } from "./built-programs.ts";
import { addCounts } from "./combine.ts";

/** Counts what tests run themselves, and what the programs run that they start. */
class WithPrograms extends V8CoverageProvider {
  private readonly programs = new BuiltPrograms();

  override async generateCoverage(context: ReportContext): Promise<CoverageMap> {
    const counted = await super.generateCoverage(context);
    addCounts(counted, await this.programs.counts());
    return counted;
  }
}

const module: CoverageProviderModule = { ...v8, getProvider: async () => new WithPrograms() };

export default module;
