"""Nothing is lost: not by a signal, not by a kill, not by a database that goes away."""

import os
import signal

import psycopg
from program import Home, ask, fill, first_target, followed, inventory, texts, wait_for_end


def test_two_servers_share_one_folder_and_the_last_one_stops_the_database(own_home: Home) -> None:
    first, second = own_home.serve(), own_home.serve()
    fill(first, inventory())
    plan = followed(second, ask(first)["id"])
    assert texts(plan) == ["completed"] * 4
    postmaster = own_home.postmaster()
    assert first.terminate() == 0
    assert texts(ask(second, "v3", wait=30)) == ["completed"] * 4
    assert second.terminate() == 0
    wait_for_end(postmaster)
    assert "queue.lost" not in first.log.read_text() + second.log.read_text()


def test_a_plan_that_a_signal_interrupts_is_finished_by_the_next_server(own_home: Home) -> None:
    server = own_home.serve(FORETELL_WORKER_CONCURRENCY="2")
    # One round of each target takes far longer than the grace of a server that ends.
    fill(server, inventory(delay=3, places=12))
    plan = ask(server)
    first_target(server, plan["id"])
    postmaster = own_home.postmaster()
    assert server.terminate() == 0
    wait_for_end(postmaster)
    again = own_home.serve()
    ended = followed(again, plan["id"])
    assert texts(ended) == ["completed"] * 12
    assert again.terminate() == 0


def test_a_plan_whose_server_was_killed_is_finished_by_the_next(own_home: Home) -> None:
    server = own_home.serve()
    fill(server, inventory(delay=1, places=20))
    plan = ask(server)
    first_target(server, plan["id"])
    postmaster = own_home.postmaster()
    server.kill()
    wait_for_end(postmaster)
    again = own_home.serve()
    ended = followed(again, plan["id"])
    assert texts(ended) == ["completed"] * 20
    postmaster = own_home.postmaster()
    assert again.terminate() == 0
    wait_for_end(postmaster)


def test_a_plan_outlives_the_loss_of_every_connection(own_home: Home) -> None:
    server = own_home.serve()
    fill(server, inventory(delay=1, places=20))
    plan = ask(server)
    first_target(server, plan["id"])
    with psycopg.connect(own_home.dsn(), autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )
    ended = followed(server, plan["id"])
    assert texts(ended) == ["completed"] * 20
    assert server.terminate() == 0


def test_a_database_that_was_killed_is_started_again_and_the_plan_finished(own_home: Home) -> None:
    server = own_home.serve()
    fill(server, inventory(delay=1, places=20))
    plan = ask(server)
    first_target(server, plan["id"])
    postmaster = own_home.postmaster()
    os.kill(postmaster, signal.SIGKILL)
    wait_for_end(postmaster)
    ended = followed(server, plan["id"])
    assert texts(ended) == ["completed"] * 20
    assert texts(ask(server, "v3", wait=30)) == ["completed"] * 20
    assert server.terminate() == 0
