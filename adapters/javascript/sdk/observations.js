// Observations to start from.

/** Observations in which nothing is known. Set what the evidence shows, and only that. */
export function nothingObserved() {
  return {
    outcome: null,
    unresolved: null,
    agentVersion: null,
    nativeSessionId: null,
    finalMessage: null,
    turns: null,
    modelRequests: null,
    usage: null,
    usageByModel: null,
    costUsd: null,
    toolCalls: null,
    applied: {
      model: null,
      sandbox: null,
      approvalPolicy: null,
      reasoningEffort: null,
      networkAccess: null,
    },
    warnings: [],
    nativeLogs: [],
    provenance: [],
    extra: '{}',
  };
}
