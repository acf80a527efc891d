// Every write of the store on SQLite, by its name.
import { writes as stored } from '../../stored.ts'
import { inContext } from './run-write.ts'

export const writes = inContext(stored)
