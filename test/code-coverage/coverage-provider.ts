import v8 from "@vitest/coverage-v8";
import { V8CoverageProvider } from "@vitest/coverage-v8/dist/provider.js";
import type { CoverageMap } from "istanbul-lib-coverage";
import type { CoverageProviderModule, ReportContext } from "vitest/node";
import { mergeCoverage } from "./merge-coverage.ts";
import { ProcessCoverage } from "./process-coverage.ts";

/** Collects coverage of the tests and of the programs that they start. */
class ProcessCoverageProvider extends V8CoverageProvider {
  private readonly processCoverage = new ProcessCoverage();

  override async generateCoverage(context: ReportContext): Promise<CoverageMap> {
    const counted = await super.generateCoverage(context);
    mergeCoverage(counted, await this.processCoverage.collect());
    return counted;
  }
}

const module: CoverageProviderModule = {
  ...v8,
  getProvider: async () => new ProcessCoverageProvider(),
};

export default module;
