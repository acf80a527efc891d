// The writer thread of a store on SQLite begins here, with the writes of all rooms.
import { serveWrites } from './store/sqlite/writer-thread.ts'
import * as writes from './writes.ts'

serveWrites(writes)
