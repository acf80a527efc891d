// The store on PostgreSQL keeps every promise of the contract.
import { newDatabase } from '../../../tests/support/postgres.ts'
import { storeContract } from '../contract/store.contract.ts'
import { openPostgresStore } from './store.ts'

storeContract({
  name: 'PostgreSQL',
  async open() {
    const { url, drop } = await newDatabase()
    const open = async () => (await openPostgresStore(url, { partitions: 3 })).store
    let store = await open()
    return {
      store,
      async reopen() {
        await store.close()
        store = await open()
        return store
      },
      async remove() {
        await store.close()
        await drop()
      },
    }
  },
})
