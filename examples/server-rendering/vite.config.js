// Two builds: the script of the page (browser.jsx), and the server, which renders the same components (server.jsx).
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const plugins = [react()]

export default defineConfig(({ isSsrBuild }) => {
  if (isSsrBuild) return { plugins, build: { emptyOutDir: false } }
  const output = { entryFileNames: 'assets/[name].js' }
  return {
    plugins,
    build: { outDir: 'dist/public', rolldownOptions: { input: 'browser.jsx', output } },
  }
})
