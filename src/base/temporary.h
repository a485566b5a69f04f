/*
 * Files and folders that are there only while the program works: gone, too, when a signal ends it.
 *
 * Paths belong to the caller, and stay as they are from plm_temporary_add() to plm_temporary_forget(). One thread.
 * Children that were forked remove nothing. Signals that are ignored or handled otherwise stay so.
 */
#ifndef PLM_BASE_TEMPORARY_H
#define PLM_BASE_TEMPORARY_H

void plm_temporary_add(char *path);
void plm_temporary_forget(const char *path);

/* A file, or a folder with the files in it. Nothing if it is not there. */
void plm_temporary_delete(const char *path);

#endif
