// Every write of the store on SQLite, by its name: those that are written once for both engines, and each exported function of the other
// files.

import * as deliveries from '../../delivery/delivery.sqlite.ts'
import * as inbox from '../../inbox/sqlite/marks.ts'
import { writes as stored } from '../../stored.ts'
import { inContext } from './run-write.ts'

export const writes = {
  ...inbox,
  ...deliveries,
  ...inContext(stored),
}
