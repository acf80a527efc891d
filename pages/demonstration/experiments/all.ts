// The nine experiments, in the order of the page.
import { otherSite, script } from './attacks.ts'
import type { Experiment } from './experiment.ts'
import { offline } from './offline.ts'
import { changeCharacter, expiry, outage, replay, restart, revokeAll } from './proofs.ts'

export const experiments: readonly Experiment[] = [
  replay,
  revokeAll,
  changeCharacter,
  restart,
  expiry,
  script,
  otherSite,
  offline,
  outage,
]
