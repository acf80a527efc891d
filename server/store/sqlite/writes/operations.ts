// Every write of the store on SQLite, by its name: those that are written once for both engines, and each exported function of the other
// files.
import { writes as stored } from '../../sign-in/operations.ts'
import * as deliveries from './deliveries.ts'
import * as inbox from './inbox.ts'
import { inContext } from './run-write.ts'

export const writes = {
  ...inbox,
  ...deliveries,
  ...inContext(stored),
}
