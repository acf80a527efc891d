import { newDatabase, queryAt } from '../../../tests/support/postgres.ts'
import { storeContract } from '../../contract/store.contract.ts'
import { openPostgresStore } from './store.ts'

// On a busy machine, a call may wait long for its turn.
const limits = { timeoutMs: 60_000, connectTimeoutMs: 60_000 }

storeContract({
  name: 'PostgreSQL',
  async newPlace() {
    const { url, drop } = await newDatabase()
    return {
      open: async () => (await openPostgresStore(url, { partitions: 3, limits })).store,
      remove: drop,
      empty: async () => void (await queryAt(url, emptyTables)),
    }
  },
})

/** A new database has connections without a plan, and `truncate` makes new files. */
const emptyTables = `do $$
declare
  place regclass;
begin
  for place in
    select oid from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
      and relname <> 'history' and relname <> 'migration'
  loop
    execute format('delete from %s', place);
  end loop;
end $$`
