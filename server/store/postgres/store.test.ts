import pg from 'pg'
import { newDatabase } from '../../../tests/support/postgres.ts'
import { storeContract } from '../../contract/store.contract.ts'
import { openPostgresStore } from './store.ts'

// On a busy machine, a call may wait long for its turn.
const limits = { timeoutMs: 60_000, connectTimeoutMs: 60_000 }

storeContract({
  name: 'PostgreSQL',
  async newPlace() {
    const { url, drop } = await newDatabase()
    // One connection for all, which keeps the plans: a new one would take most of the processor time of a test.
    const emptying = new pg.Client(url)
    await emptying.connect()
    await emptying.query(makeEmptying)
    return {
      open: async () => (await openPostgresStore(url, { partitions: 3, limits })).store,
      async remove() {
        await emptying.end()
        await drop()
      },
      empty: async () => void (await emptying.query('select pg_temp.empty()')),
    }
  },
})

/** `truncate` makes new files. */
const makeEmptying = `do $$
declare
  deletions text;
begin
  select string_agg(format('delete from %s;', oid::regclass), ' ') into deletions
  from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
    and relname <> 'history' and relname <> 'migration';
  execute format('create function pg_temp.empty() returns void language plpgsql as %L', 'begin ' || deletions || ' end');
end $$`
