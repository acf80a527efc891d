// A peer: Parse Server on PostgreSQL, mounted in Express as its documentation does.
import express from 'express'
import { ParseServer } from 'parse-server'

const { PORT, DATABASE_URL, KEY } = process.env
const server = new ParseServer({
  databaseURI: DATABASE_URL,
  appId: 'bench',
  masterKey: KEY,
  serverURL: `http://127.0.0.1:${PORT}/parse`,
  allowClientClassCreation: false,
  silent: true,
  schema: {
    definitions: [
      {
        className: 'Notification',
        fields: {
          owner: { type: 'Pointer', targetClass: '_User' },
          title: { type: 'String' },
          body: { type: 'String' },
          url: { type: 'String' },
          category: { type: 'String' },
          data: { type: 'Object' },
          readAt: { type: 'Date' },
        },
        classLevelPermissions: {
          find: { requiresAuthentication: true },
          count: { requiresAuthentication: true },
          get: {},
          create: {},
          update: {},
          delete: {},
          addField: {},
        },
      },
    ],
  },
})
await server.start()
const app = express()
app.use('/parse', server.app)
app.listen(Number(PORT), '127.0.0.1')
