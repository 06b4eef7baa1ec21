// Names the tests that passed only at a second try, so that none of them goes unseen.
export default class SecondTries {
  #tests = [];

  onTestCaseResult(test) {
    if (test.diagnostic()?.flaky)
      this.#tests.push(`${test.module.relativeModuleId} > ${test.fullName}`);
  }

  onTestRunEnd() {
    if (this.#tests.length === 0) return;
    process.stdout.write(`\nPassed at a second try only:\n  ${this.#tests.join("\n  ")}\n`);
  }
}
