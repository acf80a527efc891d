import { serveWrites } from './store/sqlite/writer-thread.ts'
import * as writes from './writes.ts'

serveWrites(writes)
