// The store on PostgreSQL keeps every promise of the contract.
import { newDatabase } from '../../../tests/support/postgres.ts'
import { storeContract } from '../contract/store.contract.ts'
import { openPostgresStore } from './store.ts'

storeContract({
  name: 'PostgreSQL',
  async newPlace() {
    const { url, drop } = await newDatabase()
    return { open: async () => (await openPostgresStore(url, { partitions: 3 })).store, remove: drop }
  },
})
