// The store on PostgreSQL keeps every promise of the contract.
import { newDatabase, queryAt } from '../../../tests/support/postgres.ts'
import { storeContract } from '../contract/store.contract.ts'
import { openPostgresStore } from './store.ts'

storeContract({
  name: 'PostgreSQL',
  async newPlace() {
    const { url, drop } = await newDatabase()
    return {
      open: async () => (await openPostgresStore(url, { partitions: 3 })).store,
      remove: drop,
      empty: async () => void (await queryAt(url, emptyTables)),
    }
  },
})

/** Much faster than a new database, whose connections begin without a plan. `truncate` makes new files, which takes longer. */
const emptyTables = `do $$
declare
  place regclass;
begin
  for place in
    select oid from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
      and relname <> 'history' and relname not like 'kysely%'
  loop
    execute format('delete from %s', place);
  end loop;
end $$`
